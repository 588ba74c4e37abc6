-- What is wanted, what is published, and who may read it. The two roles own nothing: a node reads what the bearer of a
-- token may read, a worker calls the functions below. Logins are members of one of them.

CREATE TABLE project (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organisation text NOT NULL CHECK (organisation ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$'),
    name text NOT NULL CHECK (name ~ '^[A-Za-z0-9._-]{1,100}$' AND name NOT IN ('.', '..')),
    url text NOT NULL CHECK (length(url) BETWEEN 1 AND 2000),
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (organisation, name)
);

-- One branch of a project: the commit that is wanted, the one that is published, whether all of it is to be stored once
-- more, and who works on it until when.
CREATE TABLE branch (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 250),
    is_default boolean NOT NULL,
    wanted text CHECK (wanted ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'),
    wanted_at timestamptz,
    looked_at timestamptz NOT NULL DEFAULT '-infinity',
    published text,
    published_at timestamptz,
    again boolean NOT NULL DEFAULT false,
    generation bigint NOT NULL DEFAULT 0,
    worker text,
    leased_until timestamptz,
    fence bigint NOT NULL DEFAULT 0,
    n_failures integer NOT NULL DEFAULT 0,
    retry_at timestamptz NOT NULL DEFAULT '-infinity',
    problem text NOT NULL DEFAULT '',
    UNIQUE (project_id, name)
);
CREATE UNIQUE INDEX branch_default ON branch (project_id) WHERE is_default;
CREATE INDEX branch_wanted ON branch (wanted_at) WHERE again OR wanted IS DISTINCT FROM published;
CREATE INDEX branch_looked ON branch (looked_at);

-- The objects of a generation; those of the one before stay for nodes that are still reading them.
CREATE TABLE piece (
    branch_id bigint NOT NULL REFERENCES branch ON DELETE CASCADE,
    generation bigint NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    object text NOT NULL CHECK (object ~ '^[0-9a-f]{64}$'),
    PRIMARY KEY (branch_id, generation, kind, name)
);
CREATE INDEX piece_object ON piece (object);

CREATE TABLE person (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200)
);

-- Only the SHA-256 of a token is kept.
CREATE TABLE token (
    hash bytea PRIMARY KEY CHECK (length(hash) = 32),
    person_id bigint NOT NULL REFERENCES person ON DELETE CASCADE,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX token_person ON token (person_id);

CREATE TABLE access (
    person_id bigint NOT NULL REFERENCES person ON DELETE CASCADE,
    project_id bigint NOT NULL REFERENCES project ON DELETE CASCADE,
    PRIMARY KEY (person_id, project_id)
);
CREATE INDEX access_project ON access (project_id);

-- Who bears the token that a node was given for this transaction; nobody without one.
CREATE FUNCTION bearer() RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT person_id FROM token
    WHERE hash = decode(coalesce(current_setting('cairn.token', true), ''), 'hex') AND expires_at > now()
$$;

ALTER TABLE project ENABLE ROW LEVEL SECURITY;
ALTER TABLE branch ENABLE ROW LEVEL SECURITY;
ALTER TABLE piece ENABLE ROW LEVEL SECURITY;
ALTER TABLE access ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON access FOR SELECT TO cairn_node USING (person_id = (SELECT bearer()));
CREATE POLICY readable ON project FOR SELECT TO cairn_node
    USING (id IN (SELECT project_id FROM access WHERE person_id = (SELECT bearer())));
CREATE POLICY readable ON branch FOR SELECT TO cairn_node
    USING (project_id IN (SELECT project_id FROM access WHERE person_id = (SELECT bearer())));
CREATE POLICY readable ON piece FOR SELECT TO cairn_node
    USING (branch_id IN (SELECT id FROM branch));

-- What a worker may do. The clock is the database's.

CREATE FUNCTION look(rest interval, OUT branch_id bigint, OUT url text, OUT name text)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    UPDATE branch SET looked_at = now() FROM project
    WHERE project.id = branch.project_id AND branch.id = (
        SELECT id FROM branch WHERE looked_at < now() - rest ORDER BY looked_at LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    RETURNING branch.id, project.url, branch.name
$$;

CREATE FUNCTION want(asked bigint, found text) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    UPDATE branch SET wanted = found, wanted_at = now(), retry_at = '-infinity', n_failures = 0
    WHERE id = asked AND wanted IS DISTINCT FROM found
$$;

-- A branch that is to be stored once more has no tree: what was published before may be lost.
CREATE FUNCTION claim(
    who text, lease interval,
    OUT branch_id bigint, OUT fence bigint, OUT url text, OUT name text, OUT wanted text, OUT again boolean, OUT tree text
)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    UPDATE branch SET worker = who, leased_until = now() + lease, fence = branch.fence + 1 FROM project
    WHERE project.id = branch.project_id AND branch.id = (
        SELECT id FROM branch
        WHERE wanted IS NOT NULL AND (branch.again OR wanted IS DISTINCT FROM published) AND retry_at <= now()
            AND (leased_until IS NULL OR leased_until <= now())
        ORDER BY wanted_at LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    RETURNING branch.id, branch.fence, project.url, branch.name, branch.wanted, branch.again, (
        SELECT object FROM piece
        WHERE NOT branch.again AND piece.branch_id = branch.id AND piece.generation = branch.generation AND kind = 'tree'
    )
$$;

CREATE FUNCTION renew(asked bigint, held bigint, lease interval) RETURNS boolean
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    WITH renewed AS (
        UPDATE branch SET leased_until = now() + lease
        WHERE id = asked AND fence = held AND leased_until > now() RETURNING 1
    )
    SELECT EXISTS (SELECT FROM renewed)
$$;

CREATE FUNCTION publish(asked bigint, held bigint, of_commit text, pieces jsonb) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
DECLARE
    next bigint;
BEGIN
    UPDATE branch SET
        published = of_commit, published_at = now(), generation = generation + 1, again = false,
        worker = NULL, leased_until = NULL, n_failures = 0, problem = ''
    WHERE id = asked AND fence = held AND leased_until > now() RETURNING generation INTO next;
    IF next IS NULL THEN
        RETURN false;
    END IF;
    INSERT INTO piece SELECT asked, next, p.kind, p.name, p.object
        FROM jsonb_to_recordset(pieces) AS p(kind text, name text, object text);
    DELETE FROM piece WHERE branch_id = asked AND generation < next - 1;
    RETURN true;
END
$$;

CREATE FUNCTION give_up(asked bigint, held bigint, why text, rest interval) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    UPDATE branch SET
        worker = NULL, leased_until = NULL, n_failures = n_failures + 1, problem = left(why, 1000),
        retry_at = now() + least(rest * power(2, least(n_failures, 10)), interval '1 day')
    WHERE id = asked AND fence = held
$$;

-- Which of some objects no generation names.
CREATE FUNCTION unused(objects text[]) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT one FROM unnest(objects) AS one WHERE NOT EXISTS (SELECT FROM piece WHERE object = one)
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA cairn FROM PUBLIC;
GRANT USAGE ON SCHEMA cairn TO cairn_node, cairn_worker;
GRANT SELECT ON project, branch, piece, access TO cairn_node;
GRANT EXECUTE ON FUNCTION bearer() TO cairn_node;
GRANT EXECUTE ON FUNCTION
    look(interval), want(bigint, text), claim(text, interval), renew(bigint, bigint, interval),
    publish(bigint, bigint, text, jsonb), give_up(bigint, bigint, text, interval), unused(text[])
    TO cairn_worker;
