import time
from tests.fakes.spine import *
def test_it(redis, redis_url):
    for r in (False, True):
        redis.flushall()
        s = Spine(redis_url, in_redis=r)
        f = Fuse(); s.wire(f)
        s.submit()
        t=time.time(); s.drive(); print("took", time.time()-t, len(f.passed))
        print(Counter(f.passed))
        res = s.result()
        print(res.stop, res.source_outcomes, res.usage, s.used(), s.held(), s.fetched)
        for e in s.entries(): print(e.key, getattr(e,'url',''))
        print(redis.keys('*'))
