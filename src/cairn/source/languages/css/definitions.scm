; Rules go by their selectors, at-rules by everything before the block, such as a name that the grammar has no node for.
(rule_set (selectors) @name (block) @body) @definition.rule
(keyframes_statement (keyframes_name) @name (keyframe_block_list) @body) @definition.keyframes
(media_statement "@media" @name .
  [(feature_query) (binary_query) (keyword_query) (unary_query) (parenthesized_query) (selector_query) ","]+ @name .
  (block) @body) @definition.rule
(at_rule (at_keyword) @name .
  [(feature_query) (binary_query) (keyword_query) (unary_query) (parenthesized_query) (selector_query) "," (ERROR)]* @name .
  (block) @body) @definition.rule
(supports_statement "@supports" @name . (_) @name . (block) @body) @definition.rule
((declaration (property_name) @name) @definition.variable (#match? @name "^--"))
