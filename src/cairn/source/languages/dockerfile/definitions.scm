; A stage reaches from FROM to its last instruction, before the comments that lead the next stage.
(source_file (from_instruction (image_spec) @name !as) @definition.stage . [
  "\n" (comment)
  (add_instruction) (arg_instruction) (cmd_instruction) (copy_instruction) (entrypoint_instruction) (env_instruction)
  (expose_instruction) (healthcheck_instruction) (label_instruction) (maintainer_instruction) (onbuild_instruction)
  (run_instruction) (shell_instruction) (stopsignal_instruction) (user_instruction) (volume_instruction)
  (workdir_instruction)
]* @body)
(source_file (from_instruction as: (image_alias) @name) @definition.stage . [
  "\n" (comment)
  (add_instruction) (arg_instruction) (cmd_instruction) (copy_instruction) (entrypoint_instruction) (env_instruction)
  (expose_instruction) (healthcheck_instruction) (label_instruction) (maintainer_instruction) (onbuild_instruction)
  (run_instruction) (shell_instruction) (stopsignal_instruction) (user_instruction) (volume_instruction)
  (workdir_instruction)
]* @body)
; Arguments before the first stage apply to all stages.
(source_file . ["\n" (comment) (arg_instruction)]* . (arg_instruction name: (_) @name) @definition.variable)
