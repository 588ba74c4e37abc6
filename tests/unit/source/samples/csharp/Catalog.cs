using System;
using System.Collections.Generic;
using Alias = System.Text.StringBuilder;

[assembly: CLSCompliant(true)]

namespace Shop.Catalog
{
    /// <summary>Things that are for sale.</summary>
    [Serializable, Obsolete(
        "use Store")]
    public abstract partial class Catalog<T> : Base, IEnumerable<T> where T : class, new()
    {
        /// <summary>No more than this.</summary>
        public const int Limit = 10, Step = 2;
        private static readonly Dictionary<string, T> _items = new();

        [field: NonSerialized]
        public event EventHandler<T>? Added, Removed;
        public event Action Closed { add { } remove { } }

        public int Count { get; private set; } = 0;
        public string Name => "catalog";
        public required T First
        {
            get => _first;
            init { _first = value; }
        }
        public T this[int index] => throw new NotImplementedException();

        static Catalog() { }

        // Opens an empty catalog.
        protected Catalog(string name, int size = 3) : base(name)
        {
            Count = size;
        }

        ~Catalog() => Dispose();

        public static Catalog<T> operator +(Catalog<T> left, T right) => left;
        public static bool operator ==(Catalog<T> left, Catalog<T> right) => true;
        public static implicit operator int(Catalog<T> catalog) => catalog.Count;
        public static explicit operator List<T>(Catalog<T> catalog) => new();

        /// <summary>Finds one item.</summary>
        [Pure]
        public async Task<T?> FindAsync<TKey>(TKey key, CancellationToken token = default)
            where TKey : notnull
        {
            int Score(T item) => item.GetHashCode();
            static void Log(string text) { }
            var best = 0;
            Func<int, int> twice = n => n * 2;
            return default;
        }

        void IDisposable.Dispose() { }
        protected abstract IEnumerable<T> All();
        public partial void OnSaved();
        [DllImport("native")] private static extern int Native(IntPtr handle);

        private protected class Node
        {
            internal Node? Next;
        }

        public enum Order : byte { Name, Price }
    }

    public delegate TResult Selector<in T, out TResult>(T item);

    public record Price(decimal Amount, string Currency)
    {
        public override string ToString() => $"{Amount} {Currency}";
    }

    public readonly record struct Size(int Width, int Height);

    public ref struct Cursor
    {
        public int Position;
        public readonly int Next() => Position + 1;
    }

    internal interface IStore<T>
    {
        T? Get(int id);
        int Count { get; }
        static abstract IStore<T> Create();
        event EventHandler Changed;
    }

#if DEBUG
    static class Debug
    {
        internal static void Dump(this Price price) => Console.WriteLine(price);
    }
#endif
}
