defmodule Shop.Accounts do
  @moduledoc """
  Accounts of the shop.

      defmodule NotReal do
        def example, do: :ok
      end
  """

  use Ecto.Schema
  import Ecto.Query, only: [from: 2]
  alias Shop.{Repo, Mailer}

  @behaviour Shop.Behaviour
  @timeout 5_000
  @statuses ~w(open closed)a

  @typedoc "An account."
  @type t :: %__MODULE__{id: integer, name: String.t()}
  @typep status(a) :: {:ok, a} | :error
  @opaque token :: binary

  @doc "Called when an account opens."
  @callback opened(t) :: :ok
  @callback closed(account :: t, reason) :: :ok when reason: term
  @macrocallback wrap(Macro.t()) :: Macro.t()
  @optional_callbacks closed: 2

  @enforce_keys [:id]
  defstruct [:id, name: "", status: :open]

  @doc """
  Finds an account.

  Returns `nil` when there is none.
  """
  @doc since: "1.2.0"
  @spec get(integer, keyword) ::
          t | nil
  def get(id, opts \\ [])

  def get(id, _opts) when is_integer(id) do
    query = from(a in __MODULE__, where: a.id == ^id)
    Repo.one(query, timeout: @timeout)
  end

  def get(_id, _opts), do: nil

  # Not documented for users.
  @spec list() :: [t]
  def list do
    Repo.all(__MODULE__)
  end

  @impl true
  def opened(%{id: id} = account) when id > 0 and
                                         is_map(account) do
    :ok
  end

  @impl Shop.Behaviour
  def closed?(account), do: account.status == :closed
  def delete!(account), do: Repo.delete!(account)

  defp normalize(name), do: String.trim(name); defp noop, do: nil

  def left <~> right, do: {left, right}
  def a ~> b when is_list(a), do: a ++ [b]

  defdelegate deliver(mail, opts), to: Mailer
  defguard is_open(account) when account.status == :open
  defguardp is_even(n) when rem(n, 2) == 0

  @doc false
  defmacro __using__(opts) do
    quote do
      @opts unquote(opts)
      def account_opts, do: @opts
    end
  end

  defmacrop debug(value), do: value

  for status <- @statuses do
    def unquote(:"#{status}?")(account), do: account.status == unquote(status)
  end

  defoverridable closed?: 1

  defmodule Query do
    @moduledoc false
    def open(query), do: from(a in query, where: a.status == :open)
  end
end

defmodule Shop.Error do
  defexception [:message, code: 500]
end

defprotocol Shop.Printable do
  @moduledoc "Things that print."
  @fallback_to_any true

  @doc "Prints."
  def print(value, device)
end

defimpl Shop.Printable, for: Shop.Accounts do
  def print(account, device) do
    IO.puts(device, account.name)
  end
end

defimpl Shop.Printable, for: [Integer, Float] do
  def print(number, device), do: IO.puts(device, number)
end

defmodule Shop.AccountsTest do
  use ExUnit.Case, async: true

  describe "get/2" do
    @tag :slow
    test "finds an account", %{id: id} do
      assert Shop.Accounts.get(id)
    end
  end
end
