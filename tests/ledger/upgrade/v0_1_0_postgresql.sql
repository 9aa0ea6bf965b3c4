-- A ledger that version 0.1.0 wrote: a case in every state, one redrafted, one undone, a card. Fictional posts; author key `a key for tests`.
CREATE FUNCTION public.refuse_history_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'history is append-only'; END $$;
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.assignments (
    case_key text NOT NULL,
    assignee text NOT NULL,
    who text NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.cards (
    surface character varying(16) NOT NULL,
    server character varying(64) NOT NULL,
    case_key text NOT NULL,
    channel character varying(64) NOT NULL,
    message character varying(64),
    version integer NOT NULL,
    stale_at timestamp with time zone,
    counted_only boolean NOT NULL,
    unsettled boolean NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.case_numbers (
    number bigint NOT NULL,
    case_key text NOT NULL
);
CREATE SEQUENCE public.case_numbers_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.case_numbers_number_seq OWNED BY public.case_numbers.number;
CREATE TABLE public.cases (
    key text NOT NULL,
    platform character varying(64) NOT NULL,
    post_id character varying(200) NOT NULL,
    post text NOT NULL,
    author_hash character varying(64),
    fingerprint character varying(64),
    groups integer NOT NULL,
    state character varying(16) NOT NULL,
    previous_state character varying(16),
    version integer NOT NULL,
    received_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    triage text,
    grounding text,
    request text NOT NULL,
    request_number integer NOT NULL,
    claimed_by text,
    claimed_until timestamp with time zone,
    decided_by text,
    decided_why text,
    final_text text,
    release_at timestamp with time zone,
    error text
);
CREATE TABLE public.drafts (
    case_key text NOT NULL,
    number integer NOT NULL,
    draft text NOT NULL
);
CREATE TABLE public.hidden_groups (
    who text NOT NULL,
    target_group character varying(32) NOT NULL
);
CREATE TABLE public.history (
    id bigint NOT NULL,
    case_key text NOT NULL,
    version integer NOT NULL,
    from_state character varying(16),
    to_state character varying(16) NOT NULL,
    at timestamp with time zone NOT NULL,
    who text NOT NULL,
    why text NOT NULL
);
CREATE SEQUENCE public.history_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.history_id_seq OWNED BY public.history.id;
CREATE TABLE public.intents (
    surface character varying(16) NOT NULL,
    server character varying(64) NOT NULL,
    kind character varying(16) NOT NULL,
    scope character varying(64) NOT NULL,
    intent character varying(16) NOT NULL,
    who text NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.notices (
    surface character varying(16) NOT NULL,
    server character varying(64) NOT NULL,
    channel character varying(64) NOT NULL,
    topic character varying(32) NOT NULL,
    message character varying(64) NOT NULL,
    count integer NOT NULL,
    since timestamp with time zone NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.outbox (
    id bigint NOT NULL,
    case_key text NOT NULL,
    topic character varying(16) NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    headers text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    status character varying(16) NOT NULL,
    lease_owner text,
    free_at timestamp with time zone NOT NULL,
    probe text,
    attempts integer NOT NULL,
    last_error text,
    created_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone
);
CREATE SEQUENCE public.outbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.outbox_id_seq OWNED BY public.outbox.id;
CREATE TABLE public.switches (
    surface character varying(16) NOT NULL,
    server character varying(64) NOT NULL,
    kind character varying(16) NOT NULL,
    scope text NOT NULL,
    who text NOT NULL,
    at timestamp with time zone NOT NULL,
    until timestamp with time zone
);
ALTER TABLE ONLY public.case_numbers ALTER COLUMN number SET DEFAULT nextval('public.case_numbers_number_seq'::regclass);
ALTER TABLE ONLY public.history ALTER COLUMN id SET DEFAULT nextval('public.history_id_seq'::regclass);
ALTER TABLE ONLY public.outbox ALTER COLUMN id SET DEFAULT nextval('public.outbox_id_seq'::regclass);
INSERT INTO public.alembic_version VALUES ('0002');
INSERT INTO public.cards VALUES ('discord', 's1', 'forum/4', 'c1', 'm1', 4, NULL, false, true, '2026-11-01 12:00:10+00');
INSERT INTO public.case_numbers VALUES (1, 'forum/4');
INSERT INTO public.cases VALUES ('forum/1', 'forum', '1', '{"platform":"forum","post_id":"1","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/1","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}', 'f3d7d1542c5055d8df935de6f39731b107b68799a2a61d4d0df27e9e1ab8b29d', 'a696febf59b6af99a5feceff792abf444e0572e95c74b523bd25211415307f9a', 0, 'received', NULL, 1, '2026-11-01 12:00:00+00', '2026-11-01 12:00:00+00', NULL, NULL, '{"number":1,"intent":"informative","hint":"","avoid":[]}', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.cases VALUES ('forum/2', 'forum', '2', '{"platform":"forum","post_id":"2","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/2","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}', '34038078d6eba63d60fc5d04b9eabe09f8eb42ece5b87068ac9388a1a5517948', '8d5ba10486c08f2e4a83d9ae7df9000605113c300f9cc0c739810a01fe2dbcbe', 8, 'triaged', 'received', 2, '2026-11-01 12:00:01+00', '2026-11-01 12:00:01+00', '{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}', NULL, '{"number":1,"intent":"informative","hint":"","avoid":[]}', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.cases VALUES ('forum/3', 'forum', '3', '{"platform":"forum","post_id":"3","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/3","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}', '849bcbc64d338717fd5454dd41348296e88fa02ba7a5878eafcdef042465189d', '0efae86276c17d276d7941ea9dcc37f23e410c9628ffae354c2e4e5fc9e35247', 8, 'grounded', 'triaged', 3, '2026-11-01 12:00:02+00', '2026-11-01 12:00:02+00', '{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}', '{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}', '{"number":1,"intent":"informative","hint":"","avoid":[]}', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.cases VALUES ('forum/4', 'forum', '4', '{"platform":"forum","post_id":"4","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/4","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}', 'f3d7d1542c5055d8df935de6f39731b107b68799a2a61d4d0df27e9e1ab8b29d', 'a696febf59b6af99a5feceff792abf444e0572e95c74b523bd25211415307f9a', 8, 'pending', 'grounded', 4, '2026-11-01 12:00:03+00', '2026-11-01 12:00:03+00', '{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}', '{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}', '{"number":1,"intent":"informative","hint":"","avoid":[]}', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.cases VALUES ('forum/5', 'forum', '5', '{"platform":"forum","post_id":"5","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/5","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}', '34038078d6eba63d60fc5d04b9eabe09f8eb42ece5b87068ac9388a1a5517948', '8d5ba10486c08f2e4a83d9ae7df9000605113c300f9cc0c739810a01fe2dbcbe', 8, 'approved', 'pending', 5, '2026-11-01 12:00:04+00', '2026-11-01 12:00:04+00', '{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}', '{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}', '{"number":1,"intent":"informative","hint":"","avoid":[]}', 1, NULL, NULL, 'ana', 'good', 'A fair reply. With a source.', '2026-11-01 12:01:00+00', NULL);
INSERT INTO public.cases VALUES ('forum/6', 'forum', '6', '{"platform":"forum","post_id":"6","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/6","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}', '849bcbc64d338717fd5454dd41348296e88fa02ba7a5878eafcdef042465189d', '0efae86276c17d276d7941ea9dcc37f23e410c9628ffae354c2e4e5fc9e35247', 8, 'released', 'approved', 6, '2026-11-01 12:00:05+00', '2026-11-01 12:00:05+00', '{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}', '{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}', '{"number":1,"intent":"informative","hint":"","avoid":[]}', 1, NULL, NULL, 'ana', 'good', 'A fair reply. With a source.', '2026-11-01 12:00:00+00', NULL);
INSERT INTO public.cases VALUES ('forum/7', 'forum', '7', '{"platform":"forum","post_id":"7","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/7","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}', 'f3d7d1542c5055d8df935de6f39731b107b68799a2a61d4d0df27e9e1ab8b29d', 'a696febf59b6af99a5feceff792abf444e0572e95c74b523bd25211415307f9a', 8, 'rejected', 'pending', 5, '2026-11-01 12:00:06+00', '2026-11-01 12:00:06+00', '{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}', '{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}', '{"number":1,"intent":"informative","hint":"","avoid":[]}', 1, NULL, NULL, 'ana', 'off the point', NULL, '2026-11-01 12:01:00+00', NULL);
INSERT INTO public.cases VALUES ('forum/8', 'forum', '8', '{"platform":"forum","post_id":"8","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/8","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}', '34038078d6eba63d60fc5d04b9eabe09f8eb42ece5b87068ac9388a1a5517948', '8d5ba10486c08f2e4a83d9ae7df9000605113c300f9cc0c739810a01fe2dbcbe', 8, 'dismissed', 'received', 2, '2026-11-01 12:00:07+00', '2026-11-01 12:00:07+00', '{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"dismiss","reason":"it blames a group","embedding":null}', NULL, '{"number":1,"intent":"informative","hint":"","avoid":[]}', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.cases VALUES ('forum/9', 'forum', '9', '{"platform":"forum","post_id":"9","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/9","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}', '849bcbc64d338717fd5454dd41348296e88fa02ba7a5878eafcdef042465189d', '0efae86276c17d276d7941ea9dcc37f23e410c9628ffae354c2e4e5fc9e35247', 8, 'escalated', 'received', 2, '2026-11-01 12:00:08+00', '2026-11-01 12:00:08+00', '{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"escalate","reason":"it blames a group","embedding":null}', NULL, '{"number":1,"intent":"informative","hint":"","avoid":[]}', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.cases VALUES ('forum/10', 'forum', '10', '{"platform":"forum","post_id":"10","text":"The Zorblaxians ruin everything.","language":null,"url":"https://forum.example/10","flagged_at":null,"reason":"reported twice","context":["The Zorblaxians again?"]}', 'f3d7d1542c5055d8df935de6f39731b107b68799a2a61d4d0df27e9e1ab8b29d', 'a696febf59b6af99a5feceff792abf444e0572e95c74b523bd25211415307f9a', 8, 'failed', 'grounded', 4, '2026-11-01 12:00:09+00', '2026-11-01 12:00:09+00', '{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}', '{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}', '{"number":1,"intent":"informative","hint":"","avoid":[]}', 1, NULL, NULL, NULL, NULL, NULL, NULL, 'the model is away');
INSERT INTO public.cases VALUES ('forum/claimed', 'forum', 'claimed', '{"platform":"forum","post_id":"claimed","text":"The Zorblaxians built nothing.","language":null,"url":null,"flagged_at":null,"reason":null,"context":[]}', NULL, NULL, 8, 'grounded', 'pending', 6, '2026-11-01 12:00:10+00', '2026-11-01 12:00:10+00', '{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}', '{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}', '{"number":2,"intent":"questioning","hint":"shorter","avoid":["The Zorblaxians again?"]}', 2, 'bo', '2026-11-01 12:01:10+00', NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.cases VALUES ('forum/undone', 'forum', 'undone', '{"platform":"forum","post_id":"undone","text":"The Zorblaxians ruin everything.","language":null,"url":null,"flagged_at":null,"reason":null,"context":[]}', NULL, NULL, 8, 'pending', 'approved', 6, '2026-11-01 12:00:10+00', '2026-11-01 12:00:10+00', '{"language":"en","groups":[{"group":"migrants","score":0.9}],"hate":0.9,"route":"draft","reason":"it blames a group","embedding":null}', '{"evidence":[{"id":"e1","text":"All are born free.","summary":"","groups":["other"],"source":{"institution":"UN","title":"UDHR","symbol":"A/RES/217(III)","locator":"Article 1","year":1948,"url":"https://docs.un.org/en/A/RES/217(III)"},"answers":[],"language":"en","score":0.0}],"note":""}', '{"number":1,"intent":"informative","hint":"","avoid":[]}', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.drafts VALUES ('forum/4', 1, '{"case_key":"forum/4","number":1,"text":"Zorblaxians built the bridge. Facts show it.","intent":"informative","origin":"composer","model":"none","language":"en","checks":[],"considered":0,"note":"","created_at":"2026-11-01T12:00:00Z"}');
INSERT INTO public.drafts VALUES ('forum/5', 1, '{"case_key":"forum/5","number":1,"text":"Zorblaxians built the bridge. Facts show it.","intent":"informative","origin":"composer","model":"none","language":"en","checks":[],"considered":0,"note":"","created_at":"2026-11-01T12:00:00Z"}');
INSERT INTO public.drafts VALUES ('forum/6', 1, '{"case_key":"forum/6","number":1,"text":"Zorblaxians built the bridge. Facts show it.","intent":"informative","origin":"composer","model":"none","language":"en","checks":[],"considered":0,"note":"","created_at":"2026-11-01T12:00:00Z"}');
INSERT INTO public.drafts VALUES ('forum/7', 1, '{"case_key":"forum/7","number":1,"text":"Zorblaxians built the bridge. Facts show it.","intent":"informative","origin":"composer","model":"none","language":"en","checks":[],"considered":0,"note":"","created_at":"2026-11-01T12:00:00Z"}');
INSERT INTO public.drafts VALUES ('forum/claimed', 1, '{"case_key":"forum/claimed","number":1,"text":"Zorblaxians built the bridge. Facts show it.","intent":"informative","origin":"composer","model":"none","language":"en","checks":[],"considered":0,"note":"","created_at":"2026-11-01T12:00:00Z"}');
INSERT INTO public.drafts VALUES ('forum/undone', 1, '{"case_key":"forum/undone","number":1,"text":"Zorblaxians built the bridge. Facts show it.","intent":"informative","origin":"composer","model":"none","language":"en","checks":[],"considered":0,"note":"","created_at":"2026-11-01T12:00:00Z"}');
INSERT INTO public.history VALUES (1, 'forum/1', 1, NULL, 'received', '2026-11-01 12:00:00+00', 'machine', 'flagged');
INSERT INTO public.history VALUES (2, 'forum/2', 1, NULL, 'received', '2026-11-01 12:00:01+00', 'machine', 'flagged');
INSERT INTO public.history VALUES (3, 'forum/2', 2, 'received', 'triaged', '2026-11-01 12:00:01+00', 'machine', 'it blames a group');
INSERT INTO public.history VALUES (4, 'forum/3', 1, NULL, 'received', '2026-11-01 12:00:02+00', 'machine', 'flagged');
INSERT INTO public.history VALUES (5, 'forum/3', 2, 'received', 'triaged', '2026-11-01 12:00:02+00', 'machine', 'it blames a group');
INSERT INTO public.history VALUES (6, 'forum/3', 3, 'triaged', 'grounded', '2026-11-01 12:00:02+00', 'machine', 'evidence found: 1');
INSERT INTO public.history VALUES (7, 'forum/4', 1, NULL, 'received', '2026-11-01 12:00:03+00', 'machine', 'flagged');
INSERT INTO public.history VALUES (8, 'forum/4', 2, 'received', 'triaged', '2026-11-01 12:00:03+00', 'machine', 'it blames a group');
INSERT INTO public.history VALUES (9, 'forum/4', 3, 'triaged', 'grounded', '2026-11-01 12:00:03+00', 'machine', 'evidence found: 1');
INSERT INTO public.history VALUES (10, 'forum/4', 4, 'grounded', 'pending', '2026-11-01 12:00:03+00', 'machine', 'draft 1 from composer');
INSERT INTO public.history VALUES (11, 'forum/5', 1, NULL, 'received', '2026-11-01 12:00:04+00', 'machine', 'flagged');
INSERT INTO public.history VALUES (12, 'forum/5', 2, 'received', 'triaged', '2026-11-01 12:00:04+00', 'machine', 'it blames a group');
INSERT INTO public.history VALUES (13, 'forum/5', 3, 'triaged', 'grounded', '2026-11-01 12:00:04+00', 'machine', 'evidence found: 1');
INSERT INTO public.history VALUES (14, 'forum/5', 4, 'grounded', 'pending', '2026-11-01 12:00:04+00', 'machine', 'draft 1 from composer');
INSERT INTO public.history VALUES (15, 'forum/5', 5, 'pending', 'approved', '2026-11-01 12:00:04+00', 'ana', 'good');
INSERT INTO public.history VALUES (16, 'forum/6', 1, NULL, 'received', '2026-11-01 12:00:05+00', 'machine', 'flagged');
INSERT INTO public.history VALUES (17, 'forum/6', 2, 'received', 'triaged', '2026-11-01 12:00:05+00', 'machine', 'it blames a group');
INSERT INTO public.history VALUES (18, 'forum/6', 3, 'triaged', 'grounded', '2026-11-01 12:00:05+00', 'machine', 'evidence found: 1');
INSERT INTO public.history VALUES (19, 'forum/6', 4, 'grounded', 'pending', '2026-11-01 12:00:05+00', 'machine', 'draft 1 from composer');
INSERT INTO public.history VALUES (20, 'forum/6', 5, 'pending', 'approved', '2026-11-01 12:00:05+00', 'ana', 'good');
INSERT INTO public.history VALUES (21, 'forum/6', 6, 'approved', 'released', '2026-11-01 12:00:05+00', 'ana', 'released');
INSERT INTO public.history VALUES (22, 'forum/7', 1, NULL, 'received', '2026-11-01 12:00:06+00', 'machine', 'flagged');
INSERT INTO public.history VALUES (23, 'forum/7', 2, 'received', 'triaged', '2026-11-01 12:00:06+00', 'machine', 'it blames a group');
INSERT INTO public.history VALUES (24, 'forum/7', 3, 'triaged', 'grounded', '2026-11-01 12:00:06+00', 'machine', 'evidence found: 1');
INSERT INTO public.history VALUES (25, 'forum/7', 4, 'grounded', 'pending', '2026-11-01 12:00:06+00', 'machine', 'draft 1 from composer');
INSERT INTO public.history VALUES (26, 'forum/7', 5, 'pending', 'rejected', '2026-11-01 12:00:06+00', 'ana', 'off the point');
INSERT INTO public.history VALUES (27, 'forum/8', 1, NULL, 'received', '2026-11-01 12:00:07+00', 'machine', 'flagged');
INSERT INTO public.history VALUES (28, 'forum/8', 2, 'received', 'dismissed', '2026-11-01 12:00:07+00', 'machine', 'it blames a group');
INSERT INTO public.history VALUES (29, 'forum/9', 1, NULL, 'received', '2026-11-01 12:00:08+00', 'machine', 'flagged');
INSERT INTO public.history VALUES (30, 'forum/9', 2, 'received', 'escalated', '2026-11-01 12:00:08+00', 'machine', 'it blames a group');
INSERT INTO public.history VALUES (31, 'forum/10', 1, NULL, 'received', '2026-11-01 12:00:09+00', 'machine', 'flagged');
INSERT INTO public.history VALUES (32, 'forum/10', 2, 'received', 'triaged', '2026-11-01 12:00:09+00', 'machine', 'it blames a group');
INSERT INTO public.history VALUES (33, 'forum/10', 3, 'triaged', 'grounded', '2026-11-01 12:00:09+00', 'machine', 'evidence found: 1');
INSERT INTO public.history VALUES (34, 'forum/10', 4, 'grounded', 'failed', '2026-11-01 12:00:09+00', 'machine', 'draft: the model is away');
INSERT INTO public.history VALUES (35, 'forum/claimed', 1, NULL, 'received', '2026-11-01 12:00:10+00', 'machine', 'flagged');
INSERT INTO public.history VALUES (36, 'forum/claimed', 2, 'received', 'triaged', '2026-11-01 12:00:10+00', 'machine', 'it blames a group');
INSERT INTO public.history VALUES (37, 'forum/claimed', 3, 'triaged', 'grounded', '2026-11-01 12:00:10+00', 'machine', 'evidence found: 1');
INSERT INTO public.history VALUES (38, 'forum/claimed', 4, 'grounded', 'pending', '2026-11-01 12:00:10+00', 'machine', 'draft 1 from composer');
INSERT INTO public.history VALUES (39, 'forum/claimed', 5, 'pending', 'pending', '2026-11-01 12:00:10+00', 'bo', 'claimed until 2026-11-01T12:01:10+00:00');
INSERT INTO public.history VALUES (40, 'forum/claimed', 6, 'pending', 'grounded', '2026-11-01 12:00:10+00', 'bo', 'redraft 2, questioning: shorter');
INSERT INTO public.history VALUES (41, 'forum/undone', 1, NULL, 'received', '2026-11-01 12:00:10+00', 'machine', 'flagged');
INSERT INTO public.history VALUES (42, 'forum/undone', 2, 'received', 'triaged', '2026-11-01 12:00:10+00', 'machine', 'it blames a group');
INSERT INTO public.history VALUES (43, 'forum/undone', 3, 'triaged', 'grounded', '2026-11-01 12:00:10+00', 'machine', 'evidence found: 1');
INSERT INTO public.history VALUES (44, 'forum/undone', 4, 'grounded', 'pending', '2026-11-01 12:00:10+00', 'machine', 'draft 1 from composer');
INSERT INTO public.history VALUES (45, 'forum/undone', 5, 'pending', 'approved', '2026-11-01 12:00:10+00', 'ana', 'good');
INSERT INTO public.history VALUES (46, 'forum/undone', 6, 'approved', 'pending', '2026-11-01 12:00:10+00', 'ana', 'undone');
INSERT INTO public.outbox VALUES (1, 'forum/5', 'replies', 'forum/5', '{"case_key": "forum/5", "platform": "forum", "post_id": "5", "text": "A fair reply. With a source.", "approved_by": "ana", "approved_at": "2026-11-01T12:00:04+00:00", "draft_number": 1, "edited": true}', '{"idempotency-key": "reply:forum/5"}', '2026-11-01 12:01:00+00', 'waiting', NULL, '2026-11-01 12:01:00+00', NULL, 0, NULL, '2026-11-01 12:00:04+00', NULL);
INSERT INTO public.outbox VALUES (2, 'forum/6', 'replies', 'forum/6', '{"case_key": "forum/6", "platform": "forum", "post_id": "6", "text": "A fair reply. With a source.", "approved_by": "ana", "approved_at": "2026-11-01T12:00:05+00:00", "draft_number": 1, "edited": true}', '{"idempotency-key": "reply:forum/6"}', '2026-11-01 12:00:00+00', 'sent', NULL, '2026-11-01 12:00:35+00', NULL, 1, NULL, '2026-11-01 12:00:05+00', '2026-11-01 12:00:05+00');
INSERT INTO public.outbox VALUES (3, 'forum/6', 'outcomes', 'forum/6', '{"case_key":"forum/6","state":"released","at":"2026-11-01T12:00:05Z","who":"ana","why":"good","text":"A fair reply. With a source."}', '{"idempotency-key": "outcome:forum/6:6"}', '2026-11-01 12:00:05+00', 'waiting', NULL, '2026-11-01 12:00:05+00', NULL, 0, NULL, '2026-11-01 12:00:05+00', NULL);
INSERT INTO public.outbox VALUES (4, 'forum/7', 'outcomes', 'forum/7', '{"case_key":"forum/7","state":"rejected","at":"2026-11-01T12:00:06Z","who":"ana","why":"off the point","text":null}', '{"idempotency-key": "outcome:forum/7:5"}', '2026-11-01 12:01:00+00', 'waiting', NULL, '2026-11-01 12:01:00+00', NULL, 0, NULL, '2026-11-01 12:00:06+00', NULL);
INSERT INTO public.outbox VALUES (5, 'forum/8', 'outcomes', 'forum/8', '{"case_key":"forum/8","state":"dismissed","at":"2026-11-01T12:00:07Z","who":"machine","why":"it blames a group","text":null}', '{"idempotency-key": "outcome:forum/8:2"}', '2026-11-01 12:00:07+00', 'waiting', NULL, '2026-11-01 12:00:07+00', NULL, 0, NULL, '2026-11-01 12:00:07+00', NULL);
INSERT INTO public.outbox VALUES (6, 'forum/9', 'outcomes', 'forum/9', '{"case_key":"forum/9","state":"escalated","at":"2026-11-01T12:00:08Z","who":"machine","why":"it blames a group","text":null}', '{"idempotency-key": "outcome:forum/9:2"}', '2026-11-01 12:00:08+00', 'waiting', NULL, '2026-11-01 12:00:08+00', NULL, 0, NULL, '2026-11-01 12:00:08+00', NULL);
INSERT INTO public.outbox VALUES (7, 'forum/10', 'outcomes', 'forum/10', '{"case_key":"forum/10","state":"failed","at":"2026-11-01T12:00:09Z","who":"machine","why":"draft: the model is away","text":null}', '{"idempotency-key": "outcome:forum/10:4"}', '2026-11-01 12:00:09+00', 'waiting', NULL, '2026-11-01 12:00:09+00', NULL, 0, NULL, '2026-11-01 12:00:09+00', NULL);
INSERT INTO public.outbox VALUES (8, 'forum/claimed', 'grounded', 'forum/claimed', '{"post": {}}', '{}', '2026-11-01 12:00:10+00', 'waiting', NULL, '2026-11-01 12:00:10+00', NULL, 0, NULL, '2026-11-01 12:00:10+00', NULL);
INSERT INTO public.outbox VALUES (9, 'forum/undone', 'replies', 'forum/undone', '{"case_key": "forum/undone", "platform": "forum", "post_id": "undone", "text": "A fair reply. With a source.", "approved_by": "ana", "approved_at": "2026-11-01T12:00:10+00:00", "draft_number": 1, "edited": true}', '{"idempotency-key": "reply:forum/undone"}', '2026-11-01 12:01:00+00', 'cancelled', NULL, '2026-11-01 12:01:00+00', NULL, 0, NULL, '2026-11-01 12:00:10+00', NULL);
SELECT pg_catalog.setval('public.case_numbers_number_seq', 1, true);
SELECT pg_catalog.setval('public.history_id_seq', 46, true);
SELECT pg_catalog.setval('public.outbox_id_seq', 9, true);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.assignments
    ADD CONSTRAINT assignments_pkey PRIMARY KEY (case_key);
ALTER TABLE ONLY public.cards
    ADD CONSTRAINT cards_pkey PRIMARY KEY (surface, server, case_key);
ALTER TABLE ONLY public.case_numbers
    ADD CONSTRAINT case_numbers_case_key_key UNIQUE (case_key);
ALTER TABLE ONLY public.case_numbers
    ADD CONSTRAINT case_numbers_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.cases
    ADD CONSTRAINT cases_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.drafts
    ADD CONSTRAINT drafts_pkey PRIMARY KEY (case_key, number);
ALTER TABLE ONLY public.hidden_groups
    ADD CONSTRAINT hidden_groups_pkey PRIMARY KEY (who, target_group);
ALTER TABLE ONLY public.history
    ADD CONSTRAINT history_case_version UNIQUE (case_key, version);
ALTER TABLE ONLY public.history
    ADD CONSTRAINT history_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.intents
    ADD CONSTRAINT intents_pkey PRIMARY KEY (surface, server, kind, scope);
ALTER TABLE ONLY public.notices
    ADD CONSTRAINT notices_pkey PRIMARY KEY (surface, server, channel, topic);
ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.switches
    ADD CONSTRAINT switches_pkey PRIMARY KEY (surface, server, kind, scope);
CREATE INDEX cards_message ON public.cards USING btree (surface, message);
CREATE INDEX cards_recent ON public.cards USING btree (surface, server, channel, at);
CREATE INDEX cards_unsettled ON public.cards USING btree (surface, server, at) WHERE (unsettled IS TRUE);
CREATE INDEX cases_fingerprint ON public.cases USING btree (fingerprint, received_at, key) WHERE (fingerprint IS NOT NULL);
CREATE INDEX cases_queue ON public.cases USING btree (state, received_at, key, groups, platform, claimed_by);
CREATE INDEX cases_unfinished ON public.cases USING btree (updated_at) WHERE ((COALESCE(state, ''::character varying))::text = ANY ((ARRAY['received'::character varying, 'triaged'::character varying, 'grounded'::character varying])::text[]));
CREATE INDEX outbox_open ON public.outbox USING btree (free_at, id) WHERE ((status)::text = ANY ((ARRAY['waiting'::character varying, 'sending'::character varying])::text[]));
CREATE INDEX outbox_open_of_case ON public.outbox USING btree (case_key) WHERE ((status)::text = ANY ((ARRAY['waiting'::character varying, 'sending'::character varying])::text[]));
CREATE TRIGGER history_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.history FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();
ALTER TABLE ONLY public.drafts
    ADD CONSTRAINT drafts_case_key_fkey FOREIGN KEY (case_key) REFERENCES public.cases(key);
ALTER TABLE ONLY public.history
    ADD CONSTRAINT history_case_key_fkey FOREIGN KEY (case_key) REFERENCES public.cases(key);
ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_case_key_fkey FOREIGN KEY (case_key) REFERENCES public.cases(key);
