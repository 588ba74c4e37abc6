(command name: (command_name (word) @call))
; `source lib.sh`, `. ./lib.sh` and `source "$FOLDER/lib.sh"`
((command name: (command_name (word) @_source) argument: (_)) @import
  (#any-of? @_source "source" "."))
