const Card = () => null;
export default Card;
