; A section reaches to the next heading of its level. Headings in quotes and lists are no part of the document's order.
(document (section . (atx_heading heading_content: (_) @name)) @definition.section)
(section (section . (atx_heading heading_content: (_) @name)) @definition.section)

; Underlined headings open no section in this grammar: a section is what follows up to the next one.
(section (setext_heading heading_content: (_) @name @signature (setext_h1_underline)) @definition.section . [
    (paragraph) (list) (fenced_code_block) (indented_code_block) (block_quote) (html_block) (pipe_table)
    (thematic_break) (link_reference_definition) (section)
    (setext_heading (setext_h2_underline))
  ]* @body)
(section (setext_heading heading_content: (_) @name @signature (setext_h2_underline)) @definition.section . [
    (paragraph) (list) (fenced_code_block) (indented_code_block) (block_quote) (html_block) (pipe_table)
    (thematic_break) (link_reference_definition) (section)
  ]* @body)
