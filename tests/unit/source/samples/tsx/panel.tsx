import React, { memo, useState } from 'react';

interface PanelProps<T> {
  items: T[];
  title?: string;
  onSelect(item: T): void;
}

type State = { open: boolean };

const initial: State = { open: false };

/** A panel that opens and closes. */
export function Panel<T extends { id: string }>({ items, title, onSelect }: PanelProps<T>) {
  const [state, setState] = useState(initial);
  const toggle = () => setState((previous) => ({ open: !previous.open }));

  function renderItem(item: T) {
    return <li key={item.id} onClick={() => onSelect(item)}>{item.id}</li>;
  }

  return (
    <section className={state.open ? 'open' : 'closed'}>
      <h2 onClick={toggle}>{title ?? 'Panel'}</h2>
      {state.open && <ul>{items.map(renderItem)}</ul>}
    </section>
  );
}

// One badge.
export const Badge: React.FC<{ count: number }> = ({ count }) => (
  <span className="badge">{count}</span>
);

export const Fast = memo(Badge);

const Context = React.createContext<State>(initial);

export class Boundary extends React.Component<{ children: React.ReactNode }, State> {
  static displayName = 'Boundary';
  state: State = { open: true };

  static getDerivedStateFromError(): State { return { open: false }; }

  private handleReset = (): void => {
    this.setState({ open: true });
  };

  override render() {
    return this.state.open ? this.props.children : <button onClick={this.handleReset}>Again</button>;
  }
}

export function useToggle(value: boolean): readonly [boolean, () => void];
export function useToggle(value = false) {
  const [on, setOn] = useState(value);
  return [on, () => setOn(!on)] as const;
}

enum Tone { Calm, Loud }

export default () => <Context.Provider value={initial}><Fast count={Tone.Calm} /></Context.Provider>;
