"""Research memory: local evidence of one scope, found by several channels and returned with what was done to find it.

Nothing here knows the network; a contract of the import linter and a test that counts sockets keep it so.
"""
