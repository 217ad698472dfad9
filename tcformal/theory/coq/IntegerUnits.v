(** Units of integers: sums that wrap are one function however they are cut, and small ones are exact. *)
From Coq Require Import ZArith List Permutation Lia.
From TC Require Export IntegerDesign.
Import ListNotations.
Open Scope Z_scope.

(** One call adds the products l to c, exactly, and converts once; calls follow each other. *)
Definition call (convert : Z -> Z) (c : Z) (l : list Z) : Z := convert (c + total l).
Definition calls (convert : Z -> Z) (c : Z) (ls : list (list Z)) : Z := fold_left (call convert) ls c.

(** Any arrangement of additions, each of which converts its result. *)
Inductive tree := Leaf (n : Z) | Node (x y : tree).
Fixpoint leaves (t : tree) : list Z := match t with Leaf n => [n] | Node x y => leaves x ++ leaves y end.
Fixpoint value (convert : Z -> Z) (t : tree) : Z :=
  match t with Leaf n => n | Node x y => convert (value convert x + value convert y) end.

Lemma total_app l k : total (l ++ k) = total l + total k.
Proof. induction l; simpl; lia. Qed.

Lemma total_permuted l k : Permutation l k -> total l = total k.
Proof. intros P. induction P; simpl; lia. Qed.

Lemma wrapped_congruent lo m n : 0 < m -> wrapped lo m n mod m = n mod m.
Proof.
  intros M. unfold wrapped. rewrite Zplus_mod, Zmod_mod, <- Zplus_mod. f_equal. lia.
Qed.

Lemma wrapped_same lo m x y : x mod m = y mod m -> wrapped lo m x = wrapped lo m y.
Proof. intros H. unfold wrapped. rewrite Zminus_mod, H, <- Zminus_mod. reflexivity. Qed.

Lemma wrapped_added lo m x y : 0 < m -> wrapped lo m (wrapped lo m x + y) = wrapped lo m (x + y).
Proof.
  intros M. apply wrapped_same. rewrite Zplus_mod, wrapped_congruent, <- Zplus_mod by lia. reflexivity.
Qed.

Theorem wrapped_range lo m n : 0 < m -> lo <= wrapped lo m n < lo + m.
Proof. intros M. unfold wrapped. pose proof (Z.mod_pos_bound (n - lo) m M). lia. Qed.

Theorem saturated_range lo m n : 0 < m -> lo <= saturated lo m n < lo + m.
Proof. unfold saturated. lia. Qed.

(** Calls that wrap are one sum that wraps. *)
Theorem wrapped_calls lo m c ls :
  0 < m -> ls <> [] -> calls (wrapped lo m) c ls = wrapped lo m (c + total (concat ls)).
Proof.
  intros M. revert c. induction ls as [|l ls IH]; intros c N; [easy|].
  destruct ls as [|k ls].
  - simpl. unfold call. rewrite app_nil_r. reflexivity.
  - change (calls (wrapped lo m) c (l :: k :: ls)) with (calls (wrapped lo m) (call (wrapped lo m) c l) (k :: ls)).
    rewrite IH by easy. unfold call. rewrite wrapped_added by lia. f_equal.
    change (concat (l :: k :: ls)) with (l ++ concat (k :: ls)). rewrite total_app. lia.
Qed.

(** However the same products are ordered and cut into calls, the result is the same. *)
Theorem wrapped_cuts lo m c ls ks :
  0 < m -> ls <> [] -> ks <> [] -> Permutation (concat ls) (concat ks) ->
  calls (wrapped lo m) c ls = calls (wrapped lo m) c ks.
Proof. intros M L K P. rewrite !wrapped_calls by easy. rewrite (total_permuted _ _ P). reflexivity. Qed.

(** However they are arranged, each partial sum wrapping: chains, pairs, trees. *)
Theorem wrapped_tree lo m t : 0 < m -> wrapped lo m (value (wrapped lo m) t) = wrapped lo m (total (leaves t)).
Proof.
  intros M. induction t as [n|x IX y IY]; simpl; [f_equal; lia|].
  rewrite total_app. apply wrapped_same. rewrite !wrapped_congruent by lia.
  apply (f_equal (fun z => z mod m)) in IX, IY. rewrite !wrapped_congruent in IX, IY by lia.
  rewrite Zplus_mod, IX, IY, <- Zplus_mod. reflexivity.
Qed.

(** One sum that converts at its end takes its products in any order. *)
Theorem integer_order convert c l k : Permutation l k -> call convert c l = call convert c k.
Proof. intros P. unfold call. rewrite (total_permuted _ _ P). reflexivity. Qed.

Theorem wrapped_exact lo m n : lo <= n < lo + m -> wrapped lo m n = n.
Proof. intros H. unfold wrapped. rewrite Z.mod_small; lia. Qed.

Theorem saturated_exact lo m n : lo <= n < lo + m -> saturated lo m n = n.
Proof. unfold saturated. lia. Qed.

Lemma total_bounds l p q :
  (forall x, In x l -> p <= x <= q) -> Z.of_nat (length l) * p <= total l <= Z.of_nat (length l) * q.
Proof.
  induction l as [|x l IH]; intros H; simpl total; [simpl; lia|].
  assert (p <= x <= q) by (apply H; now left). assert (I := IH (fun y N => H y (or_intror N))).
  change (length (x :: l)) with (S (length l)). rewrite Nat2Z.inj_succ. lia.
Qed.

(** Products from p <= 0 to q >= 0, so few that c, they, and every part of them stay within the format, are added
    exactly, by calls of any size, whether these wrap or saturate. *)
Theorem exact_calls convert lo m p q c ls :
  (forall n, lo <= n < lo + m -> convert n = n) -> p <= 0 <= q ->
  (forall x, In x (concat ls) -> p <= x <= q) ->
  lo <= c + Z.of_nat (length (concat ls)) * p -> c + Z.of_nat (length (concat ls)) * q < lo + m ->
  calls convert c ls = c + total (concat ls).
Proof.
  intros E S. revert c. induction ls as [|l ls IH]; intros c P L H; simpl in *; [lia|].
  rewrite app_length, Nat2Z.inj_add in L, H.
  assert (B : Z.of_nat (length l) * p <= total l <= Z.of_nat (length l) * q).
  { apply total_bounds. intros x I. apply P, in_or_app. now left. }
  assert (T : call convert c l = c + total l).
  { unfold call. apply E. nia. }
  rewrite total_app. change (fold_left (call convert) ls (call convert c l)) with (calls convert (call convert c l) ls).
  rewrite T, IH; [lia| |nia|nia]. intros x I. apply P, in_or_app. now right.
Qed.

(** One more product than that, all of them the largest, and the sum lies outside the format: no result is exact. *)
Theorem overflowed convert lo m n : (forall k, lo <= convert k < lo + m) -> ~ (lo <= n < lo + m) -> convert n <> n.
Proof. intros R O E. specialize (R n). lia. Qed.

(** Products of zero that fill a call up are no terms. *)
Theorem zeros_idle l n : total (l ++ repeat 0 n) = total l.
Proof. rewrite total_app. induction n; simpl; lia. Qed.

(** A partial sum within the numbers that its conversion leaves as they are is no sum of its own. *)
Theorem converted_within convert lo m before inner after :
  (forall n, lo <= n < lo + m -> convert n = n) -> lo <= total inner < lo + m ->
  total (before ++ convert (total inner) :: after) = total (before ++ inner ++ after).
Proof. intros E R. rewrite !total_app. simpl. rewrite E by exact R. lia. Qed.

(** One that is taken modulo a multiple of m, in a sum that is taken modulo m, is none either. *)
Theorem wrapped_inside lo low m q before inner after : 0 < m -> 0 < q ->
  wrapped lo m (total (before ++ wrapped low (m * q) (total inner) :: after)) =
  wrapped lo m (total (before ++ inner ++ after)).
Proof.
  intros M Q. apply wrapped_same. rewrite !total_app. simpl. unfold wrapped.
  set (x := total inner).
  replace (total before + ((x - low) mod (m * q) + low + total after))
    with (total before + (x + total after) + - (q * ((x - low) / (m * q))) * m).
  - apply Z_mod_plus_full.
  - pose proof (Z.div_mod (x - low) (m * q) ltac:(nia)). nia.
Qed.

(** One that saturates, in a sum that saturates where it does whatever stands beside it, is none either; an end
    that it does not go beyond is none. *)
Theorem saturated_beyond lo m low n before inner after : 0 < m -> 0 < n ->
  (total inner < low + n \/ lo + m <= low + n + (total before + total after)) ->
  (low <= total inner \/ low + (total before + total after) <= lo) ->
  saturated lo m (total (before ++ saturated low n (total inner) :: after)) =
  saturated lo m (total (before ++ inner ++ after)).
Proof.
  intros A B C D. unfold saturated. rewrite !total_app. cbn [total fold_right]. fold (total after).
  set (x := total inner) in *. set (y := total before) in *. set (z := total after) in *. lia.
Qed.

(** Ends of a format that no sum goes beyond are no ends. *)
Theorem saturated_alike lo m low n x : 0 < m -> 0 < n ->
  (lo = low \/ (lo <= x /\ low <= x)) -> (lo + m = low + n \/ (x < lo + m /\ x < low + n)) ->
  saturated lo m x = saturated low n x.
Proof. intros. unfold saturated. lia. Qed.
