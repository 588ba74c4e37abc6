// The API of the shop, as the page calls it.

export interface CartView {
  customer: string;
  cents: number;
}

/** Wait longer after each attempt, at most half a minute. */
export function retryDelay(attempt: number): number {
  return Math.min(500 * 2 ** attempt, 30_000);
}

/** Fetch the cart of the customer who is signed in. */
export async function fetchCart(signal?: AbortSignal): Promise<CartView> {
  const response = await fetch("/cart", { credentials: "include", signal });
  if (response.status === 401) {
    throw new Error("session expired");
  }
  return (await response.json()) as CartView;
}

// TODO(ann): show the cents with the currency of the customer
export function formatPrice(cents: number): string {
  return (cents / 100).toFixed(2);
}
