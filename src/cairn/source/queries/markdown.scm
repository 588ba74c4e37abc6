; A section reaches to the next heading of its level.
(section . (atx_heading heading_content: (_) @name)) @definition.section
(section . (setext_heading heading_content: (_) @name @signature)) @definition.section

; The grammar opens no section for an underlined heading behind the first: take what follows up to the next one.
(section (_) . (setext_heading heading_content: (_) @name @signature (setext_h1_underline)) @definition.section . [
    (paragraph) (list) (fenced_code_block) (indented_code_block) (block_quote) (html_block) (pipe_table)
    (thematic_break) (link_reference_definition) (section)
    (setext_heading (setext_h2_underline))
  ]* @body)
(section (_) . (setext_heading heading_content: (_) @name @signature (setext_h2_underline)) @definition.section . [
    (paragraph) (list) (fenced_code_block) (indented_code_block) (block_quote) (html_block) (pipe_table)
    (thematic_break) (link_reference_definition) (section)
  ]* @body)
