{-# LANGUAGE GADTs, TypeFamilies, PatternSynonyms #-}
-- | Queues of all kinds.
module Data.Queue
  ( Queue (..)
  , push
  ) where

import Control.Monad (forM_, when)
import qualified Data.Map.Strict as Map

-- | A queue of values.
data Queue a
  = Queue { front :: [a], back :: [a] }
  | Empty
  deriving (Show, Eq)

newtype Priority = Priority { unPriority :: Int }
  deriving newtype (Eq, Ord)

type Handler m a = a -> m ()

{- Commands of a worker,
   typed by their result. -}
data Command r where
  Stop :: Command ()
  Size :: Queue a -> Command Int

type family Elem c where
  Elem [e] = e
  Elem (Queue e) = e

data family Store k

-- | What holds values.
class (Monoid (c a)) => Container c a where
  type Key c
  -- | Is there nothing?
  isEmpty :: c a -> Bool
  isEmpty _ = False
  insert, remove :: a -> c a -> c a
  (<+>) :: c a -> c a -> c a
  infixr 5 <+>

instance Functor Queue where
  fmap _ Empty = Empty
  fmap f (Queue xs ys) = Queue (map f xs) (map f ys)

-- | Joins the ends.
instance Semigroup (Queue a) where
  Empty <> q = q
  q <> Empty = q
  Queue a b <> Queue c d = Queue (a ++ reverse b ++ c) d

deriving instance Ord a => Ord (Queue a)

pattern Single :: a -> Queue a
pattern Single x = Queue [x] []

foreign import ccall unsafe "math.h floor" c_floor :: Double -> Double

infixl 6 |>

-- | Puts a value
-- at the end.
push :: a -> Queue a -> Queue a
push x Empty = Queue [x] []
push x (Queue xs ys)
  | null xs = Queue (reverse (x : ys)) []
  | otherwise = keep
  where
    keep :: Queue a
    keep = Queue xs (x : ys)

(|>) :: Queue a -> a -> Queue a
q |> x = push x q
{-# INLINE (|>) #-}

limit, defaultSize :: Int
limit = 100
defaultSize = let half n = n `div` 2 in half limit

x `before` y = x < y

noSignature a b = a + b

go'
  :: Monad m
  => Handler m a
  -> Queue a
  -> m ()
{-# INLINABLE go' #-}
go' _ Empty = pure ()
-- The general case.
go' h (Queue xs _) = forM_ xs h

main :: IO ()
main = do
  let local = push 1 Empty
  when (isEmpty local) $
    print local
