(command command_name: (_) @call)
