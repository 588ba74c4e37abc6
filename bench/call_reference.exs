# Writes what the Elixir compiler says each call is to, in the form of call_reference.py.
#
#   elixir -pa COMPILED_DEPENDENCIES bench/call_reference.exs FOLDER > reference.jsonl
#
# Compiles all .ex files in FOLDER. A call that a macro writes counts only where its name stands on the line.

defmodule Recorder do
  @calls [:remote_function, :remote_macro, :imported_function, :imported_macro]

  def start, do: :ets.new(__MODULE__, [:named_table, :public, :duplicate_bag])

  def trace({kind, meta, module, name, _arity}, env) when kind in @calls, do: record(meta, module, name, env)
  def trace({kind, meta, name, _arity}, env) when kind in [:local_function, :local_macro], do: record(meta, env.module, name, env)
  def trace(_event, _env), do: :ok

  defp record(meta, module, name, env) do
    if line = meta[:line], do: :ets.insert(__MODULE__, {env.file, line, name, module})
    :ok
  end
end

defmodule Report do
  @definers "(?:def|defp|defmacro|defmacrop|defguard|defguardp|defdelegate|defoverridable)"

  def write(root, files) do
    texts = Map.new(files, fn file -> {file, file |> File.read!() |> String.split("\n")} end)
    rows = :ets.tab2list(Recorder) |> Enum.uniq()

    for {file, line, name, module} <- Enum.sort(rows), is_map_key(texts, file) do
      if row = row(file, line, to_string(name), module, texts, root), do: IO.puts(row)
    end
  end

  defp row(file, line, name, module, texts, root) do
    text = Enum.at(texts[file], line - 1) || ""
    word = "(?<![\\w@:])#{Regex.escape(name)}(?![\\w?!:]|\\s*=[^=>])"

    cond do
      not Regex.match?(~r/^[a-z_]\w*[?!]?$/, name) or name in ~w(def defp defmodule) -> nil
      not Regex.match?(Regex.compile!(word), text) -> nil
      Regex.match?(Regex.compile!("^\\s*#{@definers}\\s+#{Regex.escape(name)}(?![\\w?!])"), text) -> nil
      true -> encode([Path.relative_to(file, root), line, name, targets(module, name, texts, root)])
    end
  end

  defp targets(module, name, texts, root) do
    source = source_of(module)
    defined = Regex.compile!("^\\s*#{@definers}\\s+\\(?#{Regex.escape(name)}(?![\\w?!])", "m")

    with true <- is_map_key(texts, source),
         line when line != nil <- Enum.find_index(texts[source], &Regex.match?(defined, &1)) do
      [[Path.relative_to(source, root), line + 1, name]]
    else
      _ -> []
    end
  end

  defp source_of(module) do
    to_string(module.module_info(:compile)[:source])
  rescue
    UndefinedFunctionError -> ""
  end

  defp encode(value) when is_list(value), do: "[" <> Enum.map_join(value, ", ", &encode/1) <> "]"
  defp encode(value) when is_integer(value), do: to_string(value)
  defp encode(value) when is_binary(value), do: inspect(value)
end

[root] = System.argv()
root = Path.expand(root)
files = Path.wildcard(Path.join(root, "**/*.ex"))
{:ok, _} = Application.ensure_all_started(:mix)
Mix.start()
Recorder.start()
Code.put_compiler_option(:tracers, [Recorder])
Code.put_compiler_option(:ignore_module_conflict, true)
result = Kernel.ParallelCompiler.compile(files)
Code.put_compiler_option(:tracers, [])
with {:error, errors, _} <- result, do: IO.inspect(:stderr, errors, label: "did not compile")
Report.write(root, files)
