-- How much there is to do, for whoever watches; no names.
CREATE FUNCTION queue(
    OUT published bigint, OUT waiting bigint, OUT leased bigint, OUT failed bigint, OUT oldest_seconds double precision
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT
        count(*) FILTER (WHERE NOT again AND wanted IS NOT DISTINCT FROM branch.published AND problem = ''),
        count(*) FILTER (WHERE (again OR wanted IS DISTINCT FROM branch.published) AND problem = ''
            AND (leased_until IS NULL OR leased_until <= now())),
        count(*) FILTER (WHERE leased_until > now()),
        count(*) FILTER (WHERE problem <> ''),
        coalesce(extract(epoch FROM max(now() - wanted_at)
            FILTER (WHERE again OR wanted IS DISTINCT FROM branch.published)), 0)
    FROM branch
$$;

REVOKE ALL ON FUNCTION queue() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION queue() TO cairn_worker;
