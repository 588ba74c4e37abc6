; Terraform's blocks go by the names that expressions use for them, such as `aws_vpc.main`.
(config_file (body (block (identifier) @_type . (string_lit (template_literal) @namespace) .
  (string_lit (template_literal) @name) (body)? @body) @definition.resource (#eq? @_type "resource")))
(config_file (body (block (identifier) @_type . (string_lit (template_literal) @namespace) .
  (string_lit (template_literal) @name) (body)? @body) @definition.data (#eq? @_type "data")))
(config_file (body (block (identifier) @_type . (string_lit (template_literal) @name) (body)? @body)
  @definition.variable (#eq? @_type "variable")))
(config_file (body (block (identifier) @_type . (string_lit (template_literal) @name) (body)? @body)
  @definition.output (#eq? @_type "output")))
(config_file (body (block (identifier) @_type . (string_lit (template_literal) @name) (body)? @body)
  @definition.module (#eq? @_type "module")))
(config_file (body (block (identifier) @_type (body (attribute (identifier) @name) @definition.local))
  (#eq? @_type "locals")))

; Any other block goes by all its words, as in `provider aws`.
(config_file (body (block . (identifier) @name @_type . [(string_lit (template_literal) @name) (identifier) @name]* .
  (block_start) . (body)? @body) @definition.block
  (#not-match? @_type "^(resource|data|variable|output|module)$")))
(config_file (body (attribute (identifier) @name) @definition.variable))
