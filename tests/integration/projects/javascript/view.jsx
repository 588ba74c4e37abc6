import Card from './card';
export const View = () => <Card title='x' />;
