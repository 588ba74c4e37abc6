-- An object that a worker is about to publish is never deleted: the worker holds it before it looks whether it is stored, and
-- as long as its lease lasts, without which it publishes nothing. What is being deleted cannot be held.

CREATE TABLE hold (
    object text NOT NULL CHECK (object ~ '^[0-9a-f]{64}$'),
    branch_id bigint NOT NULL REFERENCES branch ON DELETE CASCADE,
    fence bigint NOT NULL,
    PRIMARY KEY (object, branch_id)
);
CREATE INDEX hold_branch ON hold (branch_id);

CREATE TABLE leaving (
    object text PRIMARY KEY,
    until timestamptz NOT NULL
);

-- Whether the object may be counted on; if not, it is being deleted, or the lease has ended.
CREATE FUNCTION hold(asked text, of_branch bigint, held bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
BEGIN
    -- First, for from now on nobody condemns anything until this transaction ends.
    INSERT INTO hold SELECT asked, id, fence FROM branch WHERE id = of_branch AND fence = held AND leased_until > now()
        ON CONFLICT (object, branch_id) DO UPDATE SET fence = excluded.fence;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF EXISTS (SELECT FROM leaving WHERE object = asked AND until > now()) THEN
        DELETE FROM hold WHERE object = asked AND branch_id = of_branch;
        RETURN false;
    END IF;
    RETURN true;
END
$$;

-- Those of some objects that nothing names or holds. Nobody can hold them until they are released.
CREATE FUNCTION condemn(objects text[], lasting interval) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
BEGIN
    LOCK TABLE hold IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM hold USING branch WHERE branch.id = branch_id
        AND (hold.fence <> branch.fence OR leased_until IS NULL OR leased_until <= now());
    DELETE FROM leaving WHERE until <= now();
    RETURN QUERY
        INSERT INTO leaving SELECT DISTINCT asked, now() + lasting FROM unnest(objects) AS asked
            WHERE NOT EXISTS (SELECT FROM piece WHERE object = asked)
                AND NOT EXISTS (SELECT FROM hold WHERE object = asked)
        ON CONFLICT (object) DO NOTHING
        RETURNING object;
END
$$;

CREATE FUNCTION release(objects text[]) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    DELETE FROM leaving WHERE object = ANY (objects)
$$;

DROP FUNCTION unused(text[]);
REVOKE ALL ON FUNCTION hold(text, bigint, bigint), condemn(text[], interval), release(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hold(text, bigint, bigint), condemn(text[], interval), release(text[]) TO cairn_worker;
