-- A ledger that version 0.1.0 wrote: a case in every state, one redrafted, one undone, a card. Fictional posts; author key `a key for tests`.
BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0002');
CREATE TABLE assignments (
	case_key TEXT NOT NULL, 
	assignee TEXT NOT NULL, 
	who TEXT NOT NULL, 
	at DATETIME NOT NULL, 
	PRIMARY KEY (case_key)
);
CREATE TABLE cards (
	surface VARCHAR(16) NOT NULL, 
	server VARCHAR(64) NOT NULL, 
	case_key TEXT NOT NULL, 
	channel VARCHAR(64) NOT NULL, 
	message VARCHAR(64), 
	version INTEGER NOT NULL, 
	stale_at DATETIME, 
	counted_only BOOLEAN NOT NULL, 
	unsettled BOOLEAN NOT NULL, 
	at DATETIME NOT NULL, 
	PRIMARY KEY (surface, server, case_key)
);
INSERT INTO "cards" VALUES('discord','s1','forum/4','c1','m1',4,NULL,0,1,'2026-11-01 12:00:10.000000');
CREATE TABLE case_numbers (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	case_key TEXT NOT NULL, 
	UNIQUE (case_key)
);
INSERT INTO "case_numbers" VALUES(1,'forum/4');
CREATE TABLE cases (
	"key" TEXT NOT NULL, 
	platform VARCHAR(64) NOT NULL, 
	post_id VARCHAR(200) NOT NULL, 
	post TEXT NOT NULL, 
	author_hash VARCHAR(64), 
	fingerprint VARCHAR(64), 
	groups INTEGER NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	previous_state VARCHAR(16), 
	version INTEGER NOT NULL, 
	received_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	triage TEXT, 
	grounding TEXT, 
	request TEXT NOT NULL, 
	request_number INTEGER NOT NULL, 
	claimed_by TEXT, 
	claimed_until DATETIME, 
	decided_by TEXT, 
	decided_why TEXT, 
	final_text TEXT, 
	release_at DATETIME, 
	error TEXT, 
	PRIMARY KEY ("key")
);
INSERT INTO "cases" VALUES('forum/1','forum','1','{"platform":"forum","post_id":"1","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/1","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}','f3d7d1542c5055d8df935de6f39731b107b68799a2a61d4d0df27e9e1ab8b29d','a696febf59b6af99a5feceff792abf444e0572e95c74b523bd25211415307f9a',0,'received',NULL,1,'2026-11-01 12:00:00.000000','2026-11-01 12:00:00.000000',NULL,NULL,'{"number":1,"intent":"informative","hint":"","avoid":[]}',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "cases" VALUES('forum/2','forum','2','{"platform":"forum","post_id":"2","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/2","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}','34038078d6eba63d60fc5d04b9eabe09f8eb42ece5b87068ac9388a1a5517948','8d5ba10486c08f2e4a83d9ae7df9000605113c300f9cc0c739810a01fe2dbcbe',8,'triaged','received',2,'2026-11-01 12:00:01.000000','2026-11-01 12:00:01.000000','{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}',NULL,'{"number":1,"intent":"informative","hint":"","avoid":[]}',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "cases" VALUES('forum/3','forum','3','{"platform":"forum","post_id":"3","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/3","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}','849bcbc64d338717fd5454dd41348296e88fa02ba7a5878eafcdef042465189d','0efae86276c17d276d7941ea9dcc37f23e410c9628ffae354c2e4e5fc9e35247',8,'grounded','triaged',3,'2026-11-01 12:00:02.000000','2026-11-01 12:00:02.000000','{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}','{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}','{"number":1,"intent":"informative","hint":"","avoid":[]}',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "cases" VALUES('forum/4','forum','4','{"platform":"forum","post_id":"4","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/4","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}','f3d7d1542c5055d8df935de6f39731b107b68799a2a61d4d0df27e9e1ab8b29d','a696febf59b6af99a5feceff792abf444e0572e95c74b523bd25211415307f9a',8,'pending','grounded',4,'2026-11-01 12:00:03.000000','2026-11-01 12:00:03.000000','{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}','{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}','{"number":1,"intent":"informative","hint":"","avoid":[]}',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "cases" VALUES('forum/5','forum','5','{"platform":"forum","post_id":"5","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/5","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}','34038078d6eba63d60fc5d04b9eabe09f8eb42ece5b87068ac9388a1a5517948','8d5ba10486c08f2e4a83d9ae7df9000605113c300f9cc0c739810a01fe2dbcbe',8,'approved','pending',5,'2026-11-01 12:00:04.000000','2026-11-01 12:00:04.000000','{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}','{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}','{"number":1,"intent":"informative","hint":"","avoid":[]}',1,NULL,NULL,'ana','good','A fair reply. With a source.','2026-11-01 12:01:00.000000',NULL);
INSERT INTO "cases" VALUES('forum/6','forum','6','{"platform":"forum","post_id":"6","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/6","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}','849bcbc64d338717fd5454dd41348296e88fa02ba7a5878eafcdef042465189d','0efae86276c17d276d7941ea9dcc37f23e410c9628ffae354c2e4e5fc9e35247',8,'released','approved',6,'2026-11-01 12:00:05.000000','2026-11-01 12:00:05.000000','{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}','{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}','{"number":1,"intent":"informative","hint":"","avoid":[]}',1,NULL,NULL,'ana','good','A fair reply. With a source.','2026-11-01 12:00:00.000000',NULL);
INSERT INTO "cases" VALUES('forum/7','forum','7','{"platform":"forum","post_id":"7","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/7","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}','f3d7d1542c5055d8df935de6f39731b107b68799a2a61d4d0df27e9e1ab8b29d','a696febf59b6af99a5feceff792abf444e0572e95c74b523bd25211415307f9a',8,'rejected','pending',5,'2026-11-01 12:00:06.000000','2026-11-01 12:00:06.000000','{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}','{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}','{"number":1,"intent":"informative","hint":"","avoid":[]}',1,NULL,NULL,'ana','off the point',NULL,'2026-11-01 12:01:00.000000',NULL);
INSERT INTO "cases" VALUES('forum/8','forum','8','{"platform":"forum","post_id":"8","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/8","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}','34038078d6eba63d60fc5d04b9eabe09f8eb42ece5b87068ac9388a1a5517948','8d5ba10486c08f2e4a83d9ae7df9000605113c300f9cc0c739810a01fe2dbcbe',8,'dismissed','received',2,'2026-11-01 12:00:07.000000','2026-11-01 12:00:07.000000','{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"dismiss","reason":"it blames a group","embedding":null}',NULL,'{"number":1,"intent":"informative","hint":"","avoid":[]}',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "cases" VALUES('forum/9','forum','9','{"platform":"forum","post_id":"9","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/9","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}','849bcbc64d338717fd5454dd41348296e88fa02ba7a5878eafcdef042465189d','0efae86276c17d276d7941ea9dcc37f23e410c9628ffae354c2e4e5fc9e35247',8,'escalated','received',2,'2026-11-01 12:00:08.000000','2026-11-01 12:00:08.000000','{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"escalate","reason":"it blames a group","embedding":null}',NULL,'{"number":1,"intent":"informative","hint":"","avoid":[]}',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "cases" VALUES('forum/10','forum','10','{"platform":"forum","post_id":"10","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/10","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}','f3d7d1542c5055d8df935de6f39731b107b68799a2a61d4d0df27e9e1ab8b29d','a696febf59b6af99a5feceff792abf444e0572e95c74b523bd25211415307f9a',8,'failed','grounded',4,'2026-11-01 12:00:09.000000','2026-11-01 12:00:09.000000','{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}','{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}','{"number":1,"intent":"informative","hint":"","avoid":[]}',1,NULL,NULL,NULL,NULL,NULL,NULL,'the model is away');
INSERT INTO "cases" VALUES('forum/claimed','forum','claimed','{"platform":"forum","post_id":"claimed","text":"The Zorblaxians built nothing.","language":null,"url":null,"flagged_at":null,"reason":null,"context":[]}',NULL,NULL,8,'grounded','pending',6,'2026-11-01 12:00:10.000000','2026-11-01 12:00:10.000000','{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}','{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}','{"number":2,"intent":"questioning","hint":"shorter","avoid":["The Zorblaxians again?"]}',2,'bo','2026-11-01 12:01:10.000000',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "cases" VALUES('forum/undone','forum','undone','{"platform":"forum","post_id":"undone","text":"The Zorblaxians ruin everything.","language":null,"url":null,"flagged_at":null,"reason":null,"context":[]}',NULL,NULL,8,'pending','approved',6,'2026-11-01 12:00:10.000000','2026-11-01 12:00:10.000000','{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}','{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}','{"number":1,"intent":"informative","hint":"","avoid":[]}',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE drafts (
	case_key TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	draft TEXT NOT NULL, 
	PRIMARY KEY (case_key, number), 
	FOREIGN KEY(case_key) REFERENCES cases ("key")
);
INSERT INTO "drafts" VALUES('forum/4',1,'{"case_key":"forum/4","number":1,"text":"Zorblaxians built the bridge. Facts show it.","intent":"informative","origin":"composer","model":"none","language":"en","checks":[],"considered":0,"note":"","created_at":"2026-11-01T12:00:00Z"}');
INSERT INTO "drafts" VALUES('forum/5',1,'{"case_key":"forum/5","number":1,"text":"Zorblaxians built the bridge. Facts show it.","intent":"informative","origin":"composer","model":"none","language":"en","checks":[],"considered":0,"note":"","created_at":"2026-11-01T12:00:00Z"}');
INSERT INTO "drafts" VALUES('forum/6',1,'{"case_key":"forum/6","number":1,"text":"Zorblaxians built the bridge. Facts show it.","intent":"informative","origin":"composer","model":"none","language":"en","checks":[],"considered":0,"note":"","created_at":"2026-11-01T12:00:00Z"}');
INSERT INTO "drafts" VALUES('forum/7',1,'{"case_key":"forum/7","number":1,"text":"Zorblaxians built the bridge. Facts show it.","intent":"informative","origin":"composer","model":"none","language":"en","checks":[],"considered":0,"note":"","created_at":"2026-11-01T12:00:00Z"}');
INSERT INTO "drafts" VALUES('forum/claimed',1,'{"case_key":"forum/claimed","number":1,"text":"Zorblaxians built the bridge. Facts show it.","intent":"informative","origin":"composer","model":"none","language":"en","checks":[],"considered":0,"note":"","created_at":"2026-11-01T12:00:00Z"}');
INSERT INTO "drafts" VALUES('forum/undone',1,'{"case_key":"forum/undone","number":1,"text":"Zorblaxians built the bridge. Facts show it.","intent":"informative","origin":"composer","model":"none","language":"en","checks":[],"considered":0,"note":"","created_at":"2026-11-01T12:00:00Z"}');
CREATE TABLE hidden_groups (
	who TEXT NOT NULL, 
	target_group VARCHAR(32) NOT NULL, 
	PRIMARY KEY (who, target_group)
);
CREATE TABLE history (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	case_key TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	from_state VARCHAR(16), 
	to_state VARCHAR(16) NOT NULL, 
	at DATETIME NOT NULL, 
	who TEXT NOT NULL, 
	why TEXT NOT NULL, 
	CONSTRAINT history_case_version UNIQUE (case_key, version), 
	FOREIGN KEY(case_key) REFERENCES cases ("key")
);
INSERT INTO "history" VALUES(1,'forum/1',1,NULL,'received','2026-11-01 12:00:00.000000','machine','flagged');
INSERT INTO "history" VALUES(2,'forum/2',1,NULL,'received','2026-11-01 12:00:01.000000','machine','flagged');
INSERT INTO "history" VALUES(3,'forum/2',2,'received','triaged','2026-11-01 12:00:01.000000','machine','it blames a group');
INSERT INTO "history" VALUES(4,'forum/3',1,NULL,'received','2026-11-01 12:00:02.000000','machine','flagged');
INSERT INTO "history" VALUES(5,'forum/3',2,'received','triaged','2026-11-01 12:00:02.000000','machine','it blames a group');
INSERT INTO "history" VALUES(6,'forum/3',3,'triaged','grounded','2026-11-01 12:00:02.000000','machine','evidence found: 1');
INSERT INTO "history" VALUES(7,'forum/4',1,NULL,'received','2026-11-01 12:00:03.000000','machine','flagged');
INSERT INTO "history" VALUES(8,'forum/4',2,'received','triaged','2026-11-01 12:00:03.000000','machine','it blames a group');
INSERT INTO "history" VALUES(9,'forum/4',3,'triaged','grounded','2026-11-01 12:00:03.000000','machine','evidence found: 1');
INSERT INTO "history" VALUES(10,'forum/4',4,'grounded','pending','2026-11-01 12:00:03.000000','machine','draft 1 from composer');
INSERT INTO "history" VALUES(11,'forum/5',1,NULL,'received','2026-11-01 12:00:04.000000','machine','flagged');
INSERT INTO "history" VALUES(12,'forum/5',2,'received','triaged','2026-11-01 12:00:04.000000','machine','it blames a group');
INSERT INTO "history" VALUES(13,'forum/5',3,'triaged','grounded','2026-11-01 12:00:04.000000','machine','evidence found: 1');
INSERT INTO "history" VALUES(14,'forum/5',4,'grounded','pending','2026-11-01 12:00:04.000000','machine','draft 1 from composer');
INSERT INTO "history" VALUES(15,'forum/5',5,'pending','approved','2026-11-01 12:00:04.000000','ana','good');
INSERT INTO "history" VALUES(16,'forum/6',1,NULL,'received','2026-11-01 12:00:05.000000','machine','flagged');
INSERT INTO "history" VALUES(17,'forum/6',2,'received','triaged','2026-11-01 12:00:05.000000','machine','it blames a group');
INSERT INTO "history" VALUES(18,'forum/6',3,'triaged','grounded','2026-11-01 12:00:05.000000','machine','evidence found: 1');
INSERT INTO "history" VALUES(19,'forum/6',4,'grounded','pending','2026-11-01 12:00:05.000000','machine','draft 1 from composer');
INSERT INTO "history" VALUES(20,'forum/6',5,'pending','approved','2026-11-01 12:00:05.000000','ana','good');
INSERT INTO "history" VALUES(21,'forum/6',6,'approved','released','2026-11-01 12:00:05.000000','ana','released');
INSERT INTO "history" VALUES(22,'forum/7',1,NULL,'received','2026-11-01 12:00:06.000000','machine','flagged');
INSERT INTO "history" VALUES(23,'forum/7',2,'received','triaged','2026-11-01 12:00:06.000000','machine','it blames a group');
INSERT INTO "history" VALUES(24,'forum/7',3,'triaged','grounded','2026-11-01 12:00:06.000000','machine','evidence found: 1');
INSERT INTO "history" VALUES(25,'forum/7',4,'grounded','pending','2026-11-01 12:00:06.000000','machine','draft 1 from composer');
INSERT INTO "history" VALUES(26,'forum/7',5,'pending','rejected','2026-11-01 12:00:06.000000','ana','off the point');
INSERT INTO "history" VALUES(27,'forum/8',1,NULL,'received','2026-11-01 12:00:07.000000','machine','flagged');
INSERT INTO "history" VALUES(28,'forum/8',2,'received','dismissed','2026-11-01 12:00:07.000000','machine','it blames a group');
INSERT INTO "history" VALUES(29,'forum/9',1,NULL,'received','2026-11-01 12:00:08.000000','machine','flagged');
INSERT INTO "history" VALUES(30,'forum/9',2,'received','escalated','2026-11-01 12:00:08.000000','machine','it blames a group');
INSERT INTO "history" VALUES(31,'forum/10',1,NULL,'received','2026-11-01 12:00:09.000000','machine','flagged');
INSERT INTO "history" VALUES(32,'forum/10',2,'received','triaged','2026-11-01 12:00:09.000000','machine','it blames a group');
INSERT INTO "history" VALUES(33,'forum/10',3,'triaged','grounded','2026-11-01 12:00:09.000000','machine','evidence found: 1');
INSERT INTO "history" VALUES(34,'forum/10',4,'grounded','failed','2026-11-01 12:00:09.000000','machine','draft: the model is away');
INSERT INTO "history" VALUES(35,'forum/claimed',1,NULL,'received','2026-11-01 12:00:10.000000','machine','flagged');
INSERT INTO "history" VALUES(36,'forum/claimed',2,'received','triaged','2026-11-01 12:00:10.000000','machine','it blames a group');
INSERT INTO "history" VALUES(37,'forum/claimed',3,'triaged','grounded','2026-11-01 12:00:10.000000','machine','evidence found: 1');
INSERT INTO "history" VALUES(38,'forum/claimed',4,'grounded','pending','2026-11-01 12:00:10.000000','machine','draft 1 from composer');
INSERT INTO "history" VALUES(39,'forum/claimed',5,'pending','pending','2026-11-01 12:00:10.000000','bo','claimed until 2026-11-01T12:01:10+00:00');
INSERT INTO "history" VALUES(40,'forum/claimed',6,'pending','grounded','2026-11-01 12:00:10.000000','bo','redraft 2, questioning: shorter');
INSERT INTO "history" VALUES(41,'forum/undone',1,NULL,'received','2026-11-01 12:00:10.000000','machine','flagged');
INSERT INTO "history" VALUES(42,'forum/undone',2,'received','triaged','2026-11-01 12:00:10.000000','machine','it blames a group');
INSERT INTO "history" VALUES(43,'forum/undone',3,'triaged','grounded','2026-11-01 12:00:10.000000','machine','evidence found: 1');
INSERT INTO "history" VALUES(44,'forum/undone',4,'grounded','pending','2026-11-01 12:00:10.000000','machine','draft 1 from composer');
INSERT INTO "history" VALUES(45,'forum/undone',5,'pending','approved','2026-11-01 12:00:10.000000','ana','good');
INSERT INTO "history" VALUES(46,'forum/undone',6,'approved','pending','2026-11-01 12:00:10.000000','ana','undone');
CREATE TABLE intents (
	surface VARCHAR(16) NOT NULL, 
	server VARCHAR(64) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	scope VARCHAR(64) NOT NULL, 
	intent VARCHAR(16) NOT NULL, 
	who TEXT NOT NULL, 
	at DATETIME NOT NULL, 
	PRIMARY KEY (surface, server, kind, scope)
);
CREATE TABLE notices (
	surface VARCHAR(16) NOT NULL, 
	server VARCHAR(64) NOT NULL, 
	channel VARCHAR(64) NOT NULL, 
	topic VARCHAR(32) NOT NULL, 
	message VARCHAR(64) NOT NULL, 
	count INTEGER NOT NULL, 
	since DATETIME NOT NULL, 
	at DATETIME NOT NULL, 
	PRIMARY KEY (surface, server, channel, topic)
);
CREATE TABLE outbox (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	case_key TEXT NOT NULL, 
	topic VARCHAR(16) NOT NULL, 
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	headers TEXT NOT NULL, 
	due_at DATETIME NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	lease_owner TEXT, 
	free_at DATETIME NOT NULL, 
	probe TEXT, 
	attempts INTEGER NOT NULL, 
	last_error TEXT, 
	created_at DATETIME NOT NULL, 
	sent_at DATETIME, 
	FOREIGN KEY(case_key) REFERENCES cases ("key")
);
INSERT INTO "outbox" VALUES(1,'forum/5','replies','forum/5','{"case_key": "forum/5", "platform": "forum", "post_id": "5", "text": "A fair reply. With a source.", "approved_by": "ana", "approved_at": "2026-11-01T12:00:04+00:00", "draft_number": 1, "edited": true}','{"idempotency-key": "reply:forum/5"}','2026-11-01 12:01:00.000000','waiting',NULL,'2026-11-01 12:01:00.000000',NULL,0,NULL,'2026-11-01 12:00:04.000000',NULL);
INSERT INTO "outbox" VALUES(2,'forum/6','replies','forum/6','{"case_key": "forum/6", "platform": "forum", "post_id": "6", "text": "A fair reply. With a source.", "approved_by": "ana", "approved_at": "2026-11-01T12:00:05+00:00", "draft_number": 1, "edited": true}','{"idempotency-key": "reply:forum/6"}','2026-11-01 12:00:00.000000','sent',NULL,'2026-11-01 12:00:35.000000',NULL,1,NULL,'2026-11-01 12:00:05.000000','2026-11-01 12:00:05.000000');
INSERT INTO "outbox" VALUES(3,'forum/6','outcomes','forum/6','{"case_key":"forum/6","state":"released","at":"2026-11-01T12:00:05Z","who":"ana","why":"good","text":"A fair reply. With a source."}','{"idempotency-key": "outcome:forum/6:6"}','2026-11-01 12:00:05.000000','waiting',NULL,'2026-11-01 12:00:05.000000',NULL,0,NULL,'2026-11-01 12:00:05.000000',NULL);
INSERT INTO "outbox" VALUES(4,'forum/7','outcomes','forum/7','{"case_key":"forum/7","state":"rejected","at":"2026-11-01T12:00:06Z","who":"ana","why":"off the point","text":null}','{"idempotency-key": "outcome:forum/7:5"}','2026-11-01 12:01:00.000000','waiting',NULL,'2026-11-01 12:01:00.000000',NULL,0,NULL,'2026-11-01 12:00:06.000000',NULL);
INSERT INTO "outbox" VALUES(5,'forum/8','outcomes','forum/8','{"case_key":"forum/8","state":"dismissed","at":"2026-11-01T12:00:07Z","who":"machine","why":"it blames a group","text":null}','{"idempotency-key": "outcome:forum/8:2"}','2026-11-01 12:00:07.000000','waiting',NULL,'2026-11-01 12:00:07.000000',NULL,0,NULL,'2026-11-01 12:00:07.000000',NULL);
INSERT INTO "outbox" VALUES(6,'forum/9','outcomes','forum/9','{"case_key":"forum/9","state":"escalated","at":"2026-11-01T12:00:08Z","who":"machine","why":"it blames a group","text":null}','{"idempotency-key": "outcome:forum/9:2"}','2026-11-01 12:00:08.000000','waiting',NULL,'2026-11-01 12:00:08.000000',NULL,0,NULL,'2026-11-01 12:00:08.000000',NULL);
INSERT INTO "outbox" VALUES(7,'forum/10','outcomes','forum/10','{"case_key":"forum/10","state":"failed","at":"2026-11-01T12:00:09Z","who":"machine","why":"draft: the model is away","text":null}','{"idempotency-key": "outcome:forum/10:4"}','2026-11-01 12:00:09.000000','waiting',NULL,'2026-11-01 12:00:09.000000',NULL,0,NULL,'2026-11-01 12:00:09.000000',NULL);
INSERT INTO "outbox" VALUES(8,'forum/claimed','grounded','forum/claimed','{"post": {}}','{}','2026-11-01 12:00:10.000000','waiting',NULL,'2026-11-01 12:00:10.000000',NULL,0,NULL,'2026-11-01 12:00:10.000000',NULL);
INSERT INTO "outbox" VALUES(9,'forum/undone','replies','forum/undone','{"case_key": "forum/undone", "platform": "forum", "post_id": "undone", "text": "A fair reply. With a source.", "approved_by": "ana", "approved_at": "2026-11-01T12:00:10+00:00", "draft_number": 1, "edited": true}','{"idempotency-key": "reply:forum/undone"}','2026-11-01 12:01:00.000000','cancelled',NULL,'2026-11-01 12:01:00.000000',NULL,0,NULL,'2026-11-01 12:00:10.000000',NULL);
CREATE TABLE switches (
	surface VARCHAR(16) NOT NULL, 
	server VARCHAR(64) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	scope TEXT NOT NULL, 
	who TEXT NOT NULL, 
	at DATETIME NOT NULL, 
	until DATETIME, 
	PRIMARY KEY (surface, server, kind, scope)
);
CREATE INDEX cases_queue ON cases (state, received_at, "key", groups, platform, claimed_by);
CREATE INDEX cases_unfinished ON cases (updated_at) WHERE coalesce(state, '') IN ('received', 'triaged', 'grounded');
CREATE INDEX cases_fingerprint ON cases (fingerprint, received_at, "key") WHERE fingerprint IS NOT NULL;
CREATE INDEX outbox_open ON outbox (free_at, id) WHERE status IN ('waiting', 'sending');
CREATE INDEX outbox_open_of_case ON outbox (case_key) WHERE status IN ('waiting', 'sending');
CREATE TRIGGER history_no_update BEFORE UPDATE ON history BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
CREATE TRIGGER history_no_delete BEFORE DELETE ON history BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
CREATE INDEX cards_message ON cards (surface, message);
CREATE INDEX cards_unsettled ON cards (surface, server, at) WHERE unsettled IS TRUE;
CREATE INDEX cards_recent ON cards (surface, server, channel, at);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('history',46);
INSERT INTO "sqlite_sequence" VALUES('outbox',9);
INSERT INTO "sqlite_sequence" VALUES('case_numbers',1);
COMMIT;
