"""A small glossary of technical and general terms, Chinese = English: a Chinese question must find English documents.

A line holds pairs; several spellings of one side are parted by `/`, the best one first. Only terms whose translation
does not depend on the sentence belong here: a wrong word in a query costs more than a missing one.
"""

import re
from functools import cache

_GLOSSARY = """
事务=transaction;索引=index;锁=lock;死锁=deadlock;视图=view;触发器=trigger;存储过程=stored procedure
外键=foreign key;主键=primary key;全文搜索/全文检索=full-text search;预写日志=write-ahead log/WAL;日志=log
备份=backup;恢复=recovery/restore;加密=encryption;解密=decryption;数据库=database;关系数据库=relational database
向量数据库=vector database;查询=query;查询优化=query optimization;查询计划=query plan;执行计划=execution plan
连接=connection/join;表=table;列=column;行=row;约束=constraint;隔离级别=isolation level
快照隔离=snapshot isolation;可串行化=serializable;多版本并发控制=multiversion concurrency control/MVCC
并发=concurrency;并行=parallel;检查点=checkpoint;复制=replication;主从复制=primary-replica replication
分片=sharding/shard;分区=partition;集群=cluster;负载均衡=load balancing;缓存=cache;缓存穿透=cache penetration
缓存失效=cache invalidation;内存=memory;磁盘=disk;文件=file;文件系统=file system;目录=directory;路径=path
权限=permission;用户=user;角色=role;密码=password;认证/身份验证=authentication;授权=authorization
数据类型=data type;类型亲和性=type affinity;字符串=string;整数=integer;浮点数=floating point;布尔=boolean
日期=date;时间=time;时区=time zone;时间戳=timestamp;正则表达式=regular expression;编码=encoding
字符集=character set;排序=sorting;排序规则=collation;去重=deduplication;聚合=aggregate;分组=grouping
窗口函数=window function;子查询=subquery;公用表表达式=common table expression;递归=recursion/recursive
虚拟表=virtual table;临时表=temporary table;扩展=extension;插件=plugin;编译=compile;编译器=compiler
解释器=interpreter;虚拟机=virtual machine;字节码=bytecode;垃圾回收=garbage collection;内存泄漏=memory leak
指针=pointer;引用=reference;堆=heap;栈=stack;队列=queue;消息队列=message queue;链表=linked list
哈希表=hash table;哈希=hash;二叉树=binary tree;树=tree;图论=graph theory;B树=B-tree;算法=algorithm
复杂度=complexity;时间复杂度=time complexity;数据结构=data structure;动态规划=dynamic programming
贪心算法=greedy algorithm;线程=thread;进程=process;协程=coroutine;异步=asynchronous/async;同步=synchronous
互斥锁=mutex;信号量=semaphore;竞态条件=race condition;原子操作=atomic operation;线程池=thread pool
操作系统=operating system;内核=kernel;系统调用=system call;中断=interrupt;调度=scheduling
虚拟内存=virtual memory;分页=paging;容器=container;镜像=image;微服务=microservices;单体架构=monolith
服务发现=service discovery;网关=gateway;代理=proxy;反向代理=reverse proxy;防火墙=firewall;网络=network
协议=protocol;传输控制协议=TCP;套接字=socket;端口=port;域名=domain name;域名系统=DNS;路由=routing;带宽=bandwidth
延迟=latency;吞吐量=throughput;超时=timeout;重试=retry;限流=rate limiting;熔断=circuit breaker;幂等=idempotent
一致性=consistency;最终一致性=eventual consistency;强一致性=strong consistency;共识=consensus
分布式系统=distributed systems;分布式=distributed;容错=fault tolerance;高可用=high availability
可用性=availability;可靠性=reliability;可扩展性=scalability;性能=performance;性能优化=performance tuning
基准测试=benchmark;监控=monitoring;可观测性=observability;测试=testing;单元测试=unit test
集成测试=integration test;调试=debugging;错误=error;异常=exception;版本=version;版本控制=version control
分支=branch;合并=merge;提交=commit;部署=deployment;持续集成=continuous integration;持续交付=continuous delivery
配置=configuration;环境变量=environment variable;命令行=command line;接口=interface/API;应用程序接口=API
框架=framework;库=library;依赖=dependency;开源=open source;许可证=license;软件=software;硬件=hardware
源代码=source code;函数=function;变量=variable;常量=constant;参数=parameter;类=class;对象=object
继承=inheritance;多态=polymorphism;闭包=closure;泛型=generics;装饰器=decorator;生成器=generator;迭代器=iterator
面向对象=object-oriented;函数式编程=functional programming;设计模式=design pattern;前端=frontend;后端=backend
浏览器=browser;网页=web page;万维网=World Wide Web;搜索引擎=search engine;爬虫=crawler;隐私=privacy
安全=security;漏洞=vulnerability;攻击=attack;注入=injection;跨站脚本=cross-site scripting;钓鱼=phishing
勒索软件=ransomware;零信任=zero trust;数字签名=digital signature;公钥=public key;私钥=private key
证书=certificate;令牌=token;区块链=blockchain;智能合约=smart contract;云计算=cloud computing
边缘计算=edge computing;物联网=Internet of Things;人工智能=artificial intelligence;机器学习=machine learning
深度学习=deep learning;强化学习=reinforcement learning;监督学习=supervised learning;联邦学习=federated learning
迁移学习=transfer learning;神经网络=neural network;卷积神经网络=convolutional neural network
注意力机制=attention mechanism;大语言模型/大模型=large language model/LLM;语言模型=language model
上下文窗口=context window;长上下文=long context;提示词=prompt;微调=fine-tuning
检索增强生成=retrieval-augmented generation/RAG;智能体=agent;多智能体=multi-agent;智能体搜索=agentic search
幻觉=hallucination;嵌入=embedding;向量检索=vector search;近似最近邻=approximate nearest neighbor
推荐系统=recommender system;协同过滤=collaborative filtering;信息茧房=filter bubble
信息检索=information retrieval;自然语言处理=natural language processing;分词=tokenization
机器翻译=machine translation;计算机视觉=computer vision;图像识别=image recognition;目标检测=object detection
语音识别=speech recognition;人脸识别=facial recognition;知识图谱=knowledge graph;过拟合=overfitting
正则化=regularization;梯度下降=gradient descent;反向传播=backpropagation;损失函数=loss function;数据集=dataset
训练=training;推理=inference;聚类=clustering;分类=classification;回归=regression;决策树=decision tree
随机森林=random forest;贝叶斯=Bayesian;因果推断=causal inference;量子计算=quantum computing
量子纠错=quantum error correction;量子纠缠=quantum entanglement;量子力学=quantum mechanics;相对论=relativity
引力波=gravitational waves;黑洞=black hole;暗物质=dark matter;宇宙=universe;恒星=star;行星=planet
银河系=Milky Way;月球=Moon;火星=Mars;太阳=Sun;太阳系=Solar System;卫星=satellite;火箭=rocket;航天=spaceflight
望远镜=telescope;光速=speed of light;能量=energy;温度=temperature;压力=pressure;沸点=boiling point
熔点=melting point;密度=density;质量=mass;速度=speed;加速度=acceleration;电磁=electromagnetic
半导体=semiconductor;超导=superconductivity;芯片=chip;光刻=lithography;晶体管=transistor;电池=battery
锂电池=lithium battery;固态电池=solid-state battery;电动汽车=electric vehicle
新能源汽车=new energy vehicle/electric vehicle;自动驾驶=autonomous driving;无人机=drone;机器人=robot
核聚变=nuclear fusion;核电=nuclear power;太阳能=solar power;光伏=photovoltaic;风能=wind power
可再生能源=renewable energy;氢能=hydrogen energy;储能=energy storage;电网=power grid;气候变化=climate change
全球变暖=global warming;碳排放=carbon emissions;碳中和=carbon neutrality;碳税=carbon tax;温室气体=greenhouse gas
生态系统=ecosystem;生物多样性=biodiversity;物种=species;进化=evolution;基因=gene;基因编辑=gene editing
基因组=genome;蛋白质=protein;细胞=cell;干细胞=stem cell;病毒=virus;细菌=bacteria;疫苗=vaccine;抗体=antibody
抗生素=antibiotic;免疫=immunity;癌症=cancer;肿瘤=tumor;糖尿病=diabetes;高血压=hypertension;心脏病=heart disease
中风=stroke;抑郁症=depression;阿尔茨海默病=Alzheimer's disease;流感=influenza;新冠=COVID-19
临床试验=clinical trial;药物=drug;副作用=side effects;诊断=diagnosis;治疗=treatment;手术=surgery;症状=symptoms
患者=patient;医院=hospital;医疗=healthcare;公共卫生=public health;营养=nutrition;维生素=vitamin;睡眠=sleep
运动=exercise;肥胖=obesity;剂量=dose;荟萃分析=meta-analysis;随机对照试验=randomized controlled trial
数学=mathematics;物理=physics;化学=chemistry;生物学=biology;医学=medicine;地理=geography;历史=history
哲学=philosophy;心理学=psychology;经济学=economics;统计=statistics;概率=probability;微积分=calculus
线性代数=linear algebra;矩阵=matrix;微分方程=differential equation;数论=number theory;质数/素数=prime number
定理=theorem;证明=proof;猜想=conjecture;集合=set;拓扑=topology;几何=geometry;傅里叶变换=Fourier transform
方程=equation;公式=formula;定义=definition;元素=element;分子=molecule;原子=atom;催化剂=catalyst;酶=enzyme
合成=synthesis;聚合物=polymer;氧化=oxidation;元素周期表=periodic table;海拔=elevation;高度=height;面积=area
长度=length;深度=depth;人口=population;首都=capital;国家=country;城市=city;省=province;河流=river;湖泊=lake
海洋=ocean;大陆=continent;山脉=mountain range;沙漠=desert;森林=forest;岛屿=island;火山=volcano;地震=earthquake
台风=typhoon;降水=precipitation;珠穆朗玛峰/珠峰=Mount Everest;长江=Yangtze;黄河=Yellow River;喜马拉雅=Himalaya
太平洋=Pacific Ocean;大西洋=Atlantic Ocean;印度洋=Indian Ocean;中国=China;美国=United States;英国=United Kingdom
欧盟=European Union/EU;德国=Germany;法国=France;日本=Japan;韩国=South Korea;印度=India;俄罗斯=Russia
加拿大=Canada;澳大利亚=Australia;巴西=Brazil;非洲=Africa;欧洲=Europe;亚洲=Asia;北京=Beijing;上海=Shanghai
香港=Hong Kong;台湾=Taiwan;东京=Tokyo;伦敦=London;巴黎=Paris;纽约=New York;柏林=Berlin;莫斯科=Moscow
联合国=United Nations;世界卫生组织=World Health Organization;国内生产总值=GDP;通货膨胀/通胀=inflation
利率=interest rate;汇率=exchange rate;失业率=unemployment rate;货币政策=monetary policy;财政政策=fiscal policy
央行/中央银行=central bank;股票=stock;股价=share price;股票回购/回购=share buyback;债券=bond
市值=market capitalization;营收=revenue;利润=profit;上市公司=listed company;财报=financial report
所得税=income tax;个人所得税=personal income tax;增值税=value-added tax;税收=taxation;税率=tax rate;补贴=subsidy
关税=tariff;贸易=trade;进口=import;出口=export;供应链=supply chain;产业链=industry chain
小微企业=small and micro enterprises;初创公司/初创=startup;成本=cost;价格=price;销量=sales;市场=market
竞争=competition;投资=investment;风险=risk;监管=regulation;政策=policy;法律=law;法规=regulations;法院=court
判例=case law;专利=patent;版权=copyright;商标=trademark;合规=compliance;数据保护=data protection
个人信息=personal information;合同=contract;标准=standard;论文=paper;文献=literature;综述=review;期刊=journal
会议=conference;作者=author;同行评审=peer review;教育=education;大学=university;学生=student;研究=research
方法=method;模型=model;系统=system;架构=architecture;设计=design;实现=implementation;应用=application
评估=evaluation;评测=evaluation/benchmark;比较=comparison;区别=difference;优点=advantages;缺点=disadvantages
局限=limitations;批评=criticism;失败=failure;无效=ineffective;影响=impact;原因=cause;发明=invention
发明者=inventor;创始人=founder;趋势=trend;现状=current state;进展=progress;前沿=state of the art
最佳实践=best practices;教程=tutorial;示例=example;文档=documentation;手册=manual;语法=syntax;命令=command
安装=installation;升级=upgrade;迁移=migration;文本文件=text file;读取=read;写入=write;删除=delete;更新=update
插入=insert;导入=import;导出=export;压缩=compression;序列化=serialization;解析=parsing;渲染=rendering
响应式=responsive;组件=component;状态管理=state management;云成本=cloud cost;按需=on-demand
预留实例=reserved instances;存储=storage;对象存储=object storage;数据湖=data lake;数据仓库=data warehouse
流处理=stream processing;批处理=batch processing;大数据=big data;元数据=metadata;数据清洗=data cleaning
可视化=visualization;用户界面=user interface;无障碍=accessibility
"""


def _pairs() -> list[tuple[list[str], list[str]]]:
    entries = (each for line in _GLOSSARY.strip().splitlines() for each in line.split(";"))
    return [
        (left.split("/"), right.split("/"))
        for left, _, right in (each.partition("=") for each in entries)
    ]


@cache
def chinese_to_english() -> dict[str, tuple[str, ...]]:
    """Return the English terms of each Chinese term, best first."""
    return {each: tuple(right) for left, right in _pairs() for each in left}


@cache
def english_to_chinese() -> dict[str, tuple[str, ...]]:
    """Return the Chinese terms of each English term (lower case), best first."""
    found: dict[str, tuple[str, ...]] = {}
    for left, right in _pairs():
        for each in right:
            found[each.lower()] = (*found.get(each.lower(), ()), *left)
    return found


@cache
def _english_terms() -> re.Pattern[str]:
    longest_first = sorted(english_to_chinese(), key=lambda each: (-len(each), each))
    return re.compile(
        rf"(?<![\w-])({'|'.join(map(re.escape, longest_first))})(?:s|es)?(?![\w-])", re.IGNORECASE
    )


def chinese_for(text: str) -> tuple[str, ...]:
    """Return the Chinese words for the glossary terms of an English text, longest terms matched first, each once."""
    terms = english_to_chinese()
    found = (each for match in _english_terms().finditer(text) for each in terms[match[1].lower()])
    return tuple(dict.fromkeys(found))
