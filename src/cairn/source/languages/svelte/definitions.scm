; To this grammar a script is opaque text; blocks, snippets and elements with an id are not.
(script_element (start_tag (tag_name) @name)) @definition.block
(style_element (start_tag (tag_name) @name)) @definition.block
(snippet_statement (snippet_start (snippet_name) @name)) @definition.function
(element (start_tag (attribute (attribute_name) @_id
  (quoted_attribute_value (attribute_value) @name)) (#eq? @_id "id"))) @definition.element
