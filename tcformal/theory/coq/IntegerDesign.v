(** The specification of units of integers: exact products, added in groups, each sum converted once. *)
From Coq Require Import ZArith List.
Import ListNotations.
Open Scope Z_scope.

(** The numbers of a format of m words are those from lo on: -2^31 and 2^32 words for int32, 0 for uint32. *)
Definition wrapped (lo m n : Z) : Z := (n - lo) mod m + lo.
Definition saturated (lo m n : Z) : Z := Z.max lo (Z.min (lo + m - 1) n).

Definition total (l : list Z) : Z := fold_right Z.add 0 l.

(** A format of integers of so many bits. *)
Record integers := Integers { size : Z; signed : bool }.
Definition least (f : integers) : Z := if signed f then - 2 ^ (size f - 1) else 0.
Definition count (f : integers) : Z := 2 ^ size f.

(** The number of a word is congruent to it; the word of a number, too. *)
Definition number_of (f : integers) (word : Z) : Z := wrapped (least f) (count f) word.
Definition word_of (f : integers) (number : Z) : Z := number mod count f.

(** What becomes of a sum: its nearest number, or what is congruent to it. *)
Record conversion := Conversion { into : integers; saturates : bool }.
Definition converted (k : conversion) (n : Z) : Z :=
  (if saturates k then saturated else wrapped) (least (into k)) (count (into k)) n.

(** Sums of products, of c and of other sums. *)
Inductive sums := Product (k : nat) | C | Sum (how : conversion) (parts : list sums).

Record integer_design := IntegerDesign { a_format : integers; b_format : integers; c_format : integers; d_format : integers; summed : sums }.

Fixpoint result (products : list Z) (c : Z) (x : sums) : Z :=
  match x with
  | Product k => nth k products 0
  | C => c
  | Sum how parts => converted how (total (map (result products c) parts))
  end.

(** A unit from words to words. *)
Definition compute (d : integer_design) (a b : list Z) (c : Z) : Z :=
  let products := map (fun x => number_of (a_format d) (fst x) * number_of (b_format d) (snd x)) (combine a b) in
  word_of (d_format d) (result products (number_of (c_format d) c) (summed d)).
