-- How the whole is, for operators: what nodes and workers say of themselves, and when a repository last answered.

ALTER TABLE branch
    ADD COLUMN seen_at timestamptz, -- when its repository last said which commit is the newest
    ADD COLUMN look_problem text NOT NULL DEFAULT ''; -- why it did not when it was asked last

CREATE OR REPLACE FUNCTION want(asked bigint, found text) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    UPDATE branch SET wanted = found, wanted_at = now(), retry_at = '-infinity', n_failures = 0
    WHERE id = asked AND wanted IS DISTINCT FROM found;
    UPDATE branch SET seen_at = now(), look_problem = '' WHERE id = asked
$$;

CREATE FUNCTION not_seen(asked bigint, why text) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    UPDATE branch SET look_problem = left(why, 1000) WHERE id = asked
$$;

-- A branch that was never published and that nobody has looked at waits.
CREATE OR REPLACE FUNCTION queue(
    OUT published bigint, OUT waiting bigint, OUT leased bigint, OUT failed bigint, OUT oldest_seconds double precision
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT
        count(*) FILTER (WHERE NOT again AND wanted = branch.published AND problem = ''),
        count(*) FILTER (WHERE (again OR wanted IS DISTINCT FROM branch.published OR wanted IS NULL) AND problem = ''
            AND (leased_until IS NULL OR leased_until <= now())),
        count(*) FILTER (WHERE leased_until > now()),
        count(*) FILTER (WHERE problem <> ''),
        coalesce(extract(epoch FROM max(now() - wanted_at)
            FILTER (WHERE again OR wanted IS DISTINCT FROM branch.published)), 0)
    FROM branch
$$;

-- Nodes and workers. One that ends in order is taken out, one that was not heard of for a day is, too.
CREATE TABLE part (
    kind text NOT NULL,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    version text NOT NULL CHECK (length(version) <= 100),
    started_at timestamptz NOT NULL,
    heard_at timestamptz NOT NULL,
    figures json NOT NULL CHECK (length(figures::text) <= 20000),
    PRIMARY KEY (kind, name)
);

-- Notes what a part says of itself; NULL if it ends.
CREATE FUNCTION hear(of_kind text, of_name text, of_version text, age interval, said json) RETURNS void
LANGUAGE sql VOLATILE SET search_path = cairn, pg_temp AS $$
    DELETE FROM part WHERE heard_at < now() - interval '1 day' OR (said IS NULL AND kind = of_kind AND name = of_name);
    INSERT INTO part SELECT of_kind, of_name, of_version, now() - age, now(), said WHERE said IS NOT NULL
        ON CONFLICT (kind, name) DO UPDATE SET version = excluded.version, started_at = excluded.started_at,
            heard_at = excluded.heard_at, figures = excluded.figures
$$;

CREATE FUNCTION hear_node(of_name text, of_version text, age interval, said json) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT hear('node', of_name, of_version, age, said)
$$;

CREATE FUNCTION hear_worker(of_name text, of_version text, age interval, said json) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT hear('worker', of_name, of_version, age, said)
$$;

-- Each branch as operators see it. What is published was the newest until `fresh_at`, as far as anybody knows.
CREATE VIEW shown_branch AS
    SELECT organisation || '/' || project.name AS project, branch.name AS branch,
        CASE
            WHEN problem <> '' THEN 'failed'
            WHEN NOT again AND wanted = published THEN 'published'
            ELSE 'waiting'
        END AS state,
        wanted, published, again, generation,
        coalesce(worker, '') AS worker, coalesce(leased_until > now(), false) AS is_leased,
        problem, n_failures AS failures, look_problem, wanted_at, published_at, seen_at,
        CASE
            WHEN generation = 0 THEN NULL
            WHEN again OR wanted IS DISTINCT FROM published THEN wanted_at
            ELSE coalesce(seen_at, published_at)
        END AS fresh_at
    FROM branch JOIN project ON project.id = project_id;

CREATE FUNCTION parts(of_kind text) RETURNS json
LANGUAGE sql STABLE SET search_path = cairn, pg_temp AS $$
    SELECT coalesce(json_agg(json_build_object(
        'name', name, 'version', version, 'started_at', started_at, 'heard_at', heard_at,
        'is_silent', heard_at < now() - interval '60 seconds', 'figures', figures
    ) ORDER BY name), '[]')
    FROM part WHERE kind = of_kind
$$;

-- All of it, with at most so many branches, those in need first.
CREATE FUNCTION state(most bigint) RETURNS json
LANGUAGE sql STABLE SET search_path = cairn, pg_temp SET timezone = 'UTC' AS $$
    SELECT json_build_object(
        'at', now(),
        'queue', (SELECT row_to_json(queue) FROM queue()),
        'freshness', (
            SELECT json_build_object(
                'branches', count(*),
                'within_5_minutes', count(*) FILTER (WHERE fresh_at > now() - interval '5 minutes'),
                'within_an_hour', count(*) FILTER (
                    WHERE fresh_at <= now() - interval '5 minutes' AND fresh_at > now() - interval '1 hour'),
                'within_a_day', count(*) FILTER (
                    WHERE fresh_at <= now() - interval '1 hour' AND fresh_at > now() - interval '1 day'),
                'older', count(*) FILTER (WHERE fresh_at <= now() - interval '1 day'),
                'never_published', count(*) FILTER (WHERE fresh_at IS NULL),
                'unreachable', count(*) FILTER (WHERE look_problem <> '')
            )
            FROM shown_branch
        ),
        'branches', (
            SELECT coalesce(json_agg(row_to_json(shown)), '[]') FROM (
                SELECT * FROM shown_branch
                ORDER BY problem = '', look_problem = '', state = 'published', fresh_at NULLS FIRST, project, branch
                LIMIT most
            ) AS shown
        ),
        'nodes', parts('node'),
        'workers', parts('worker')
    )
$$;

-- The same for the bearer of a token with the scope `admin`; NULL for anybody else.
CREATE FUNCTION show_state(most bigint) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT CASE WHEN bearer_with('admin') IS NOT NULL THEN state(most) END
$$;

REVOKE ALL ON FUNCTION
    not_seen(bigint, text), hear(text, text, text, interval, json), hear_node(text, text, interval, json),
    hear_worker(text, text, interval, json), parts(text), state(bigint), show_state(bigint)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION not_seen(bigint, text), hear_worker(text, text, interval, json) TO cairn_worker;
GRANT EXECUTE ON FUNCTION hear_node(text, text, interval, json), show_state(bigint) TO cairn_node;
