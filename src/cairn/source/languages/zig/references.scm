(call_expression function: (_) @call)
