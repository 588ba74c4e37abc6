-- Who asked what of which project, and what operators did. Rows are added; the owner alone may change or delete them.

CREATE TABLE audit (
    at timestamptz NOT NULL,
    person_id bigint,
    actor text NOT NULL,
    token_id bigint,
    operation text NOT NULL,
    project text NOT NULL,
    about text NOT NULL DEFAULT '',
    outcome text NOT NULL,
    query text
) PARTITION BY RANGE (at);
CREATE INDEX audit_person ON audit (person_id, at);
CREATE INDEX audit_project ON audit (project, at);

-- Makes the tables of this month and the next two, and drops those that ended more than 180 days ago.
CREATE FUNCTION keep_audit_at(today date) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    month date;
    name text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('cairn.audit'));
    FOR month IN
        SELECT generate_series(date_trunc('month', today - 1), date_trunc('month', today) + interval '2 months', '1 month')
    LOOP
        name := 'audit_' || to_char(month, 'YYYY_MM');
        IF to_regclass('cairn.' || name) IS NULL THEN
            EXECUTE format(
                'CREATE TABLE cairn.%I PARTITION OF cairn.audit FOR VALUES FROM (%L) TO (%L)',
                name, month::timestamptz, (month + interval '1 month')::timestamptz
            );
        END IF;
    END LOOP;
    FOR name IN
        SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'cairn.audit'::regclass
            AND to_date(substr(relname, 7), 'YYYY_MM') + interval '1 month' <= today - 180
    LOOP
        EXECUTE format('DROP TABLE cairn.%I', name);
    END LOOP;
END
$$;

CREATE FUNCTION keep_audit() RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT keep_audit_at((now() AT TIME ZONE 'UTC')::date)
$$;

-- Adds what a node was asked, `age` seconds ago by its clock. What came without a token of ours is not kept.
CREATE FUNCTION record(rows jsonb) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    INSERT INTO audit (at, person_id, actor, token_id, operation, project, outcome, query)
    SELECT now() - make_interval(secs => least(greatest(r.age, 0), 3600)), person.id, person.name, token.id,
        left(r.operation, 100), left(r.project, 250), left(r.outcome, 50), left(r.query, 2000)
    FROM jsonb_to_recordset(rows) AS r(age float, token text, operation text, project text, outcome text, query text)
    JOIN token ON token.hash = decode(r.token, 'hex') JOIN person ON person.id = person_id
$$;

-- Revokes all tokens of a person and notes it, for the bearer of a token with the scope `admin`; NULL for anybody else.
CREATE FUNCTION revoke_tokens(of_person text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
DECLARE
    n_revoked bigint;
BEGIN
    -- First, for they may revoke their own.
    INSERT INTO audit (at, person_id, actor, token_id, operation, project, about, outcome)
        SELECT now(), person.id, person.name, shown.id, 'revoke tokens', '', left(of_person, 200), 'ok'
        FROM shown_token() AS shown JOIN person ON person.id = person_id WHERE 'admin' = ANY (scopes);
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    UPDATE token SET revoked_at = now() FROM person
        WHERE person.id = person_id AND person.name = of_person AND revoked_at IS NULL;
    GET DIAGNOSTICS n_revoked = ROW_COUNT;
    RETURN n_revoked;
END
$$;

REVOKE ALL ON FUNCTION keep_audit_at(date), keep_audit(), record(jsonb), revoke_tokens(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION keep_audit() TO cairn_node, cairn_worker;
GRANT EXECUTE ON FUNCTION record(jsonb), revoke_tokens(text) TO cairn_node;
SELECT keep_audit();
