; The keys of the outermost mapping, and what workflows and compose files list one level below.
(stream (document (block_node (block_mapping (block_mapping_pair key: (_) @name) @definition.key))))
(stream (document (block_node (block_mapping (block_mapping_pair key: (_) @_key
  value: (block_node (block_mapping (block_mapping_pair key: (_) @name) @definition.key)))
  (#any-of? @_key "jobs" "services")))))
