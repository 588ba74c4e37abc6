-- Shared memories: events as clients push and pull them. What a memory says is folded from them by the clients; the
-- server knows only which memories were erased, or are not shared any more.

-- The greatest number that an event of a project got, and how many events are kept. Both change under the lock of the
-- row, so that numbers become visible in their order.
ALTER TABLE project
    ADD COLUMN event_counter bigint NOT NULL DEFAULT 0,
    ADD COLUMN n_events bigint NOT NULL DEFAULT 0;

CREATE TABLE memory_event (
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL CHECK (id ~ '^[0-9a-f]{64}$'),
    seq bigint NOT NULL,
    observation text COLLATE "C" NOT NULL CHECK (length(observation) = 36),
    time text COLLATE "C" NOT NULL CHECK (length(time) <= 40),
    kind text NOT NULL CHECK (kind IN ('created', 'set', 'status', 'link', 'unlink', 'redact')),
    is_shared boolean, -- what the event says of it, NULL if nothing
    body text NOT NULL CHECK (length(body) <= 100000),
    person_id bigint REFERENCES person ON DELETE SET NULL,
    pushed_at timestamptz NOT NULL DEFAULT now(),
    is_hidden boolean NOT NULL DEFAULT false,
    PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX memory_event_seq ON memory_event (project_id, seq);
CREATE INDEX memory_event_observation ON memory_event (project_id, observation);
CREATE INDEX memory_event_person ON memory_event (person_id);

ALTER TABLE memory_event ENABLE ROW LEVEL SECURITY;
CREATE POLICY readable ON memory_event FOR SELECT TO cairn_node
    USING (project_id IN (SELECT id FROM project) AND NOT is_hidden);

-- Adds events, those that are there left out, and returns how many were new. Of an erased memory only that it was
-- erased is kept. One that is not shared any more is hidden but for the event that says so; if it is shared again, its
-- events are numbered anew, so that all who pull get them.
CREATE FUNCTION store_events(
    asked bigint, who bigint,
    ids text[], observations text[], times text[], kinds text[], sharings boolean[], bodies text[]
) RETURNS integer LANGUAGE plpgsql VOLATILE SET search_path = cairn, pg_temp AS $$
DECLARE
    last bigint;
    n_new integer;
    n_erased integer;
BEGIN
    SELECT event_counter INTO last FROM project WHERE project.id = asked FOR UPDATE;
    WITH stored AS (
        INSERT INTO memory_event (project_id, id, seq, observation, time, kind, is_shared, body, person_id)
            SELECT asked, given.id, last + row_number() OVER (ORDER BY place),
                given.observation, given.time, given.kind, given.is_shared, given.body, who
            FROM unnest(ids, observations, times, kinds, sharings, bodies) WITH ORDINALITY
                AS given(id, observation, time, kind, is_shared, body, place)
            WHERE NOT EXISTS (SELECT FROM memory_event AS e WHERE e.project_id = asked AND e.id = given.id)
                AND (given.kind = 'redact' OR NOT EXISTS (
                    SELECT FROM memory_event AS e
                    WHERE e.project_id = asked AND e.observation = given.observation AND e.kind = 'redact'
                ))
            ON CONFLICT (project_id, id) DO NOTHING -- one that is given twice
            RETURNING seq
    )
    SELECT count(*), coalesce(max(seq), last) INTO n_new, last FROM stored;
    DELETE FROM memory_event AS e
        WHERE e.project_id = asked AND e.observation = ANY (observations) AND e.kind <> 'redact' AND EXISTS (
            SELECT FROM memory_event AS r
            WHERE r.project_id = asked AND r.observation = e.observation AND r.kind = 'redact'
        );
    GET DIAGNOSTICS n_erased = ROW_COUNT;
    WITH said AS (
        SELECT DISTINCT ON (e.observation) e.observation, e.id, e.kind, e.is_shared FROM memory_event AS e
        WHERE e.project_id = asked AND e.observation = ANY (observations) AND e.is_shared IS NOT NULL
        ORDER BY e.observation, e.time DESC, e.id DESC
    )
    UPDATE memory_event AS e SET is_hidden = true FROM said
        WHERE e.project_id = asked AND e.observation = said.observation AND NOT said.is_shared
            AND (e.id <> said.id OR said.kind <> 'set') AND NOT e.is_hidden;
    WITH said AS (
        SELECT DISTINCT ON (e.observation) e.observation, e.is_shared FROM memory_event AS e
        WHERE e.project_id = asked AND e.observation = ANY (observations) AND e.is_shared IS NOT NULL
        ORDER BY e.observation, e.time DESC, e.id DESC
    ), again AS (
        SELECT e.id, row_number() OVER (ORDER BY e.seq) AS place FROM memory_event AS e JOIN said USING (observation)
        WHERE e.project_id = asked AND said.is_shared AND EXISTS (
            SELECT FROM memory_event AS h
            WHERE h.project_id = asked AND h.observation = e.observation AND h.is_hidden
        )
    ), numbered AS (
        UPDATE memory_event AS e SET is_hidden = false, seq = last + again.place FROM again
        WHERE e.project_id = asked AND e.id = again.id RETURNING 1
    )
    SELECT last + count(*) INTO last FROM numbered;
    UPDATE project SET event_counter = last, n_events = n_events + n_new - n_erased WHERE project.id = asked;
    RETURN n_new;
END
$$;

-- The same for the bearer of a token, who has to be allowed to write; NULL if they are not.
CREATE FUNCTION push_events(
    asked bigint,
    ids text[], observations text[], times text[], kinds text[], sharings boolean[], bodies text[]
) RETURNS integer LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT store_events(asked, bearer_with('write'), ids, observations, times, kinds, sharings, bodies)
    WHERE asked IN (SELECT writable())
$$;

REVOKE ALL ON FUNCTION
    store_events(bigint, bigint, text[], text[], text[], text[], boolean[], text[]),
    push_events(bigint, text[], text[], text[], text[], boolean[], text[]) FROM PUBLIC;
GRANT SELECT ON memory_event TO cairn_node;
GRANT EXECUTE ON FUNCTION push_events(bigint, text[], text[], text[], text[], boolean[], text[]) TO cairn_node;
