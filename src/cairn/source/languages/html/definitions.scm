; Elements that others refer to by their ids.
(element [(start_tag (attribute (attribute_name) @_id [
    (quoted_attribute_value (attribute_value) @name)
    (attribute_value) @name
  ])) (self_closing_tag (attribute (attribute_name) @_id [
    (quoted_attribute_value (attribute_value) @name)
    (attribute_value) @name
  ]))] (#eq? @_id "id")) @definition.element
(script_element (start_tag (attribute (attribute_name) @_id
  (quoted_attribute_value (attribute_value) @name))) (#eq? @_id "id")) @definition.element
