(** Sums of terms in a circuit that are aligned with exponents of their own, and cut in ways of their own; the sum is
    wrapped to a width, or some of its low bits are dropped; and a bit below it may stand for all that alignment cuts off. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals Permutation.
From TC Require Import Spec Theorems Design Rounded Bv Circuit Finish Fused Leaves Stage RoundDown Frames.
Import ListNotations.
Open Scope Z_scope.

Definition mode_eqb (a b : mode) : bool :=
  match a, b with RNE, RNE | RNA, RNA | RZ, RZ | RD, RD | RU, RU | RO, RO => true | SR n w, SR k x => (n =? k)%positive && (w =? x) | _, _ => false end.
Lemma mode_is a b : mode_eqb a b = true -> a = b.
Proof.
  destruct a, b; try easy. cbn [mode_eqb]. rewrite andb_true_iff, Pos.eqb_eq, Z.eqb_eq. now intros [-> ->].
Qed.

(** The terms as the sum counts them, and as they are aligned: with the exponents with which they take part in the
    largest one, a term that is cut toward zero among others that are rounded down without its sign. *)
Record term_sum := TermSum { summands : list number; entered : front }.

(** Sums that are wrapped to [held_bits] bits, or lose [dropped] low ones, rounded down. *)
Record term_rule := TermRule { cut_by : mode; modes : list mode; unit_bits : Z; held_bits : option Z; dropped : Z }.

Definition nobody_summand : number := Number 1 1 1 0 0 1 1.

(** A term with the exponent with which it takes part. *)
Definition faced (r : number) (a : addend) : number :=
  Number (sign r) (significand r) (code (of a)) (low (of a)) (bits_below r) (nan r) (inf r).

(** An integer as [w] bits in two's complement hold it: no sum of two of them is below -2^w. *)
Definition wrapped_term (w : Z) (t : term) : term := Minus (Bits 0 w (Plus t (Num_ (2 ^ w + 2 ^ (w - 1))))) (Num_ (2 ^ (w - 1))).

Section Claims.
Variables (m : widths) (g : term_rule) (k : conversion) (x : term_sum).
Let f := unit_bits g.
Let y := entered x.

Definition entered_sum : sum :=
  {| fraction_bits := Some f; alignment := cut_by g; zero_exponent := ZeroOwn; carry_bits := None; normalise := false; out := k |}.
Definition entries : list (number * addend * mode) := combine (combine (summands x) (addends y)) (modes g).
Definition unsigned_claims (e : number * addend * mode) : list claim :=
  let '(_, a, md) := e in if mode_eqb md (cut_by g) then [] else [Claim [] (Negation (Is (sign (of a))))].

Fixpoint adding_claims (t : sum_tree) : list claim :=
  match t with
  | Leaf n i => [Claim [] (Equal (Sg n) (signed_term (sign (nth i (summands x) nobody_summand)) (U (aligned (nth i (addends y) absent)))))]
  | Partial n l r =>
      let both := Plus (Sg (tree_node l)) (Sg (tree_node r)) in
      match held_bits g with
      | None => Claim [within_tree y l; within_tree y r] (Equal (Sg n) both)
      | Some w => Claim [] (Equal (Sg n) (wrapped_term w both))
      end :: adding_claims l ++ adding_claims r
  end.
Definition count_claims : list claim :=
  let whole := Sg (tree_node (partials y)) in
  match held_bits g with
  | Some w => [Claim [] (Equal (n_term y) (wrapped_term w whole))]
  | None =>
      let known := [within_tree y (partials y)] in
      [Claim known (AtMost (n_term y) whole); Claim known (Less whole (Plus (n_term y) (Num_ (2 ^ dropped g))));
       Claim known (Equal (Bits 0 (dropped g) (U (total_node y))) (Num_ 0))]
  end.
Definition count_bound : Z := match held_bits g with Some w => 2 ^ (w - 1) | None => tree_bound y (partials y) + 2 ^ dropped g end.
Definition count_range : formula := match held_bits g with
  | Some w => Both (AtMost (Num_ (- 2 ^ (w - 1))) (n_term y)) (Less (n_term y) (Num_ (2 ^ (w - 1))))
  | None => within count_bound (n_term y)
  end.
Definition count_known : list formula := [count_range; AtMost (U (top y)) (Num_ (top_span y))].
Definition term_claims_of : list claim :=
  aligned_claims m (fun _ => []) entered_sum f y ++ flat_map unsigned_claims entries ++ adding_claims (partials y) ++ count_claims.

Definition entry_ok (e : number * addend * mode) : bool :=
  let '(r, a, md) := e in
  (significand (of a) =? significand r)%positive && (bits_below (of a) =? bits_below r) && (nan (of a) =? nan r)%positive && (inf (of a) =? inf r)%positive &&
  if mode_eqb md (cut_by g) then (sign (of a) =? sign r)%positive else match cut_by g, md with RD, RZ => true | _, _ => false end.
Definition term_sum_ok : bool :=
  front_ok m entered_sum f y && (length (summands x) =? length (addends y))%nat && (length (modes g) =? length (addends y))%nat &&
  negb (length (addends y) =? 0)%nat && forallb entry_ok entries && forallb (in_circuit m) (front_nodes y) &&
  (0 <=? dropped g) && (dropped g <=? width_in m (total_node y)) && match held_bits g with Some w => (0 <? w) && (dropped g =? 0) | None => true end.

(** The sum is rounded as it is. *)
Definition plain_round : to_round :=
  ToRound (summands x) (Abs (n_term y)) (n_zero y) (Less (n_term y) (Num_ 0)) (unit_term f y) count_bound count_known Never.

(** With a bit for what was cut off; the lowest number of the sum's width counts as a zero. *)
Variable lost : list positive.
Definition lost_formula (a : addend) : formula :=
  Negation (Equal (Times (Shift (U (aligned a)) (clamped m f a)) (Num_ (2 ^ Fused.down f a))) (Times (U (significand (of a))) (Num_ (2 ^ up f a)))).
Definition lost_claims : list claim := map (fun na => Claim [] (Iff (Is (fst na)) (lost_formula (snd na)))) (combine lost (addends y)).
Definition low_places : Z := p k + 1 + deciding_bits (rho k).
Definition lowest : formula := match held_bits g with Some w => Equal (n_term y) (Num_ (- 2 ^ (w - 1))) | None => Never end.
Definition sticky_round : to_round :=
  let some := Both (any_of (map Is lost)) (Negation (n_zero y)) in
  ToRound (summands x)
    (If lowest (Num_ 0) (Plus (Times (Abs (n_term y)) (Num_ (2 ^ low_places))) (If some (Num_ 1) (Num_ 0))))
    (Either (n_zero y) lowest) (Both (Less (n_term y) (Num_ 0)) (Negation lowest))
    (Plus (U (top y)) (Num_ (top_low y - f - low_places))) (count_bound * 2 ^ low_places + 1) count_known (Less (n_term y) (Num_ 0)).
End Claims.

(** * Integers *)

Lemma wrap_add w a b : wrap w (wrap w a + wrap w b) = wrap w (a + b).
Proof.
  unfold wrap. set (h := 2 ^ (w - 1)). set (q := 2 ^ w). replace ((a + h) mod q - h + ((b + h) mod q - h) + h) with ((a + h) mod q + (b + h) mod q - h) by lia.
  f_equal. rewrite Zminus_mod, <- Zplus_mod, <- Zminus_mod. f_equal. lia.
Qed.
Lemma wrap_wrap w a : wrap w (wrap w a) = wrap w a.
Proof. unfold wrap. rewrite Z.sub_add. now rewrite Zmod_mod. Qed.
Lemma wrap_bounds w a : 0 < w -> - 2 ^ (w - 1) <= wrap w a < 2 ^ (w - 1).
Proof.
  intros W. unfold wrap. assert (P : 2 ^ w = 2 * 2 ^ (w - 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
  pose proof (Z.mod_pos_bound (a + 2 ^ (w - 1)) (2 ^ w) ltac:(apply pow2_pos; lia)). lia.
Qed.
Lemma wrapped_is m v w t : 0 < w -> value m v (wrapped_term w t) = wrap w (value m v t).
Proof.
  intros W. unfold wrapped_term, wrap. cbn [value]. rewrite Z.pow_0_r, Z.div_1_r. f_equal.
  replace (value m v t + (2 ^ w + 2 ^ (w - 1))) with (value m v t + 2 ^ (w - 1) + 1 * 2 ^ w) by lia. apply Z.mod_add. pose proof (pow2_pos w). lia.
Qed.

Lemma eqb_scaled a b c : 0 < c -> (a * c =? b * c) = (a =? b).
Proof. intros C. destruct (Z.eqb_spec (a * c) (b * c)), (Z.eqb_spec a b); auto; nia. Qed.

(** A magnitude that is rounded down is a number cut toward zero. *)
Lemma cut_unsigned u s n e fr : 0 <= n ->
  cut RZ u {| neg := s; sig := n; exp := e; frac := fr |} = with_sign s (cut RD u {| neg := false; sig := n; exp := e; frac := fr |}).
Proof.
  intros N. unfold cut, signed, lsb; cbn [neg sig exp frac]. set (j := u - (e - fr)). clearbody j.
  rewrite !round_div_unfold. destruct (Z.leb_spec j 0) as [J|J]; [unfold with_sign; destruct s; lia|].
  pose proof (pow2_pos j ltac:(lia)) as P. set (d := 2 ^ j) in *. pose proof (Z.div_mod n d ltac:(lia)) as DM. pose proof (Z.mod_pos_bound n d P) as MB.
  assert (Q : (if n mod d =? 0 then n / d else n / d) = n / d) by now destruct (_ =? _). rewrite Q. clear Q.
  destruct s; unfold with_sign.
  - destruct (Z.eq_dec (n mod d) 0) as [Z0|Z0].
    + rewrite Z.mod_opp_l_z, Z.div_opp_l_z by lia. now rewrite Z.eqb_refl.
    + rewrite Z.mod_opp_l_nz, Z.div_opp_l_nz by lia. destruct (Z.eqb_spec (d - n mod d) 0); [lia|]. destruct (Z.ltb_spec (- n) 0); [lia|]. exfalso. assert (n = 0) by lia. subst n. rewrite Z.mod_0_l in Z0 by lia. lia.
  - destruct (n mod d =? 0); auto. destruct (Z.ltb_spec n 0); [lia|auto].
Qed.

(** * What the claims say *)

Section Sound.
Variables (ct : circuit) (g : term_rule) (k : conversion) (x : term_sum) (v : env).
Let m := widths_of ct.
Let f := unit_bits g.
Let y := entered x.
Let d := entered_sum g k.
Hypothesis CIRC : circuit_ok ct = true.
Hypothesis SOL : solution ct v.
Hypothesis OK : term_sum_ok m g k x = true.
Hypothesis CL : Forall (holds ct) (term_claims_of m g k x).
Let T := truth m v.

Record fine_terms : Prop := {
  t_front : front_ok m d f y = true;
  t_lengths : length (summands x) = length (addends y) /\ length (modes g) = length (addends y) /\ addends y <> [];
  t_entries : forall e, In e (entries g x) -> entry_ok g e = true;
  t_nodes : forall i, In i (front_nodes y) -> fits m v i;
  t_dropped : 0 <= dropped g <= width_in m (total_node y);
  t_room : match held_bits g with Some w => 0 < w /\ dropped g = 0 | None => True end
}.
Lemma fine_terms_are : fine_terms.
Proof.
  pose proof OK as O. unfold term_sum_ok in O. rewrite !andb_true_iff in O. destruct O as [[[[[[[[A B] C] D] E] F] G] H] I].
  apply Nat.eqb_eq in B, C. apply negb_true_iff, Nat.eqb_neq in D. apply Z.leb_le in G, H. rewrite forallb_forall in E, F. fold y in B, C, D.
  constructor; auto.
  - repeat split; auto. intros Q. rewrite Q in D. easy.
  - intros i J. apply (in_map_fits ct v SOL CIRC). now apply F.
  - destruct (held_bits g); auto. rewrite andb_true_iff, Z.ltb_lt, Z.eqb_eq in I. exact I.
Qed.

Lemma claims_parts : Forall (holds ct) (aligned_claims m (fun _ => []) d f y) /\ Forall (holds ct) (flat_map (unsigned_claims g) (entries g x)) /\
  Forall (holds ct) (adding_claims g x (partials y)) /\ Forall (holds ct) (count_claims g x).
Proof. unfold term_claims_of in CL. rewrite !Forall_app in CL. exact CL. Qed.

Lemma use_all l q : Forall (holds ct) l -> In q l -> forallb T (given q) = true -> T (goal q) = true.
Proof. intros F I G. rewrite Forall_forall in F. exact (F q I v SOL G). Qed.

Section Finite.
Hypothesis FIN : Forall (fun r => T (finite r) = true) (summands x).

Lemma entry_of a : In a (addends y) -> exists r md, In (r, a, md) (entries g x).
Proof.
  destruct fine_terms_are as [_ [L1 [L2 _]] _ _ _ _]. intros A. apply (In_nth _ _ absent) in A. destruct A as [i [I <-]].
  exists (nth i (summands x) nobody_summand), (nth i (modes g) RZ).
  replace (nth i (summands x) nobody_summand, nth i (addends y) absent, nth i (modes g) RZ) with (nth i (entries g x) (nobody_summand, absent, RZ)).
  - apply nth_In. unfold entries. rewrite !combine_length. fold y. lia.
  - unfold entries. fold y. rewrite combine_nth by (rewrite combine_length; lia). now rewrite combine_nth by lia.
Qed.

Lemma entry_in r a md : In (r, a, md) (entries g x) -> In r (summands x) /\ In a (addends y).
Proof. unfold entries. intros I. apply in_combine_l in I. split; [exact (in_combine_l _ _ _ _ I)|exact (in_combine_r _ _ _ _ I)]. Qed.

Lemma entered_finite : Forall (fun r => T (finite r) = true) (numbers_of y).
Proof.
  apply Forall_forall. intros r I. unfold numbers_of in I. apply in_map_iff in I. destruct I as [a [<- A]]. destruct (entry_of a A) as [r [md E]].
  destruct fine_terms_are as [_ _ EN _ _ _]. specialize (EN _ E). unfold entry_ok in EN. rewrite !andb_true_iff, !Pos.eqb_eq in EN. destruct EN as [[[_ N] I] _].
  rewrite Forall_forall in FIN. specialize (FIN r (proj1 (entry_in _ _ _ E))). unfold T, finite in *. cbn [truth] in *. now rewrite N, I.
Qed.

Definition top_is : Z := v (top y) + top_low y.

(** A term, cut. *)
Definition count_of (e : number * addend) : Z := with_sign (v (sign (fst e)) =? 1) (v (aligned (snd e))).
Lemma entry_cut r a md : In (r, a, md) (entries g x) ->
  cut md (top_is - f) (num_in v (faced r a)) = count_of (r, a) /\ 0 <= v (aligned a) <= largest_aligned a.
Proof.
  intros I. destruct (entry_in _ _ _ I) as [_ A]. destruct fine_terms_are as [FO _ EN NO _ _]. destruct claims_parts as [CA [CU _]].
  destruct (aligned_is ct (fun _ => []) d f y v FO CA SOL NO (fun _ _ _ => eq_refl) entered_finite a A) as [B [C _]]. split; [|exact B].
  specialize (EN _ I). unfold entry_ok in EN. rewrite !andb_true_iff, !Pos.eqb_eq, Z.eqb_eq in EN. destruct EN as [[[[S F] N] IF] W].
  destruct (mode_eqb md (cut_by g)) eqn:ME.
  - apply mode_is in ME. apply Pos.eqb_eq in W. subst md. unfold count_of. cbn [fst snd]. rewrite <- W. rewrite <- C. unfold d, entered_sum; cbn [alignment].
    f_equal. unfold num_in, faced; cbn [sign significand code low bits_below]. now rewrite W, S, F.
  - assert (M : cut_by g = RD /\ md = RZ) by (destruct (cut_by g), md; easy). destruct M as [M1 M2]. subst md.
    assert (Z0 : (v (sign (of a)) =? 1) = false).
    { assert (Q : T (Negation (Is (sign (of a)))) = true).
      { apply (use_all _ (Claim [] (Negation (Is (sign (of a))))) CU); [|reflexivity]. apply in_flat_map. exists (r, a, RZ). split; auto. unfold unsigned_claims. rewrite ME. now left. }
      unfold T in Q. cbn [truth] in Q. now apply negb_true_iff in Q. }
    unfold d, entered_sum in C; cbn [alignment] in C. rewrite M1, Z0 in C. unfold with_sign at 1 in C.
    assert (G0 : 0 <= v (significand r)). { rewrite <- S. apply (NO (significand (of a))). unfold front_nodes. do 2 right. apply in_flat_map. exists a. split; auto. now left. }
    unfold num_in, faced; cbn [sign significand code low bits_below]. rewrite cut_unsigned by exact G0. unfold count_of; cbn [fst snd]. f_equal. rewrite <- C.
    unfold num_in, top_is. fold m. rewrite Z0, S, F. reflexivity.
Qed.

(** The largest exponent. *)
Lemma top_largest : largest d (map (num_in v) (numbers_of y)) = Some top_is.
Proof.
  destruct fine_terms_are as [FO [_ [_ NE]] _ NO _ _]. destruct claims_parts as [CA _].
  destruct (largest_is ct (fun _ => []) d f y v FO CA SOL (fun _ _ _ => eq_refl) entered_finite) as [E|[_ H]]; [exact E|].
  exfalso. destruct (addends y) as [|a l]; [easy|]. specialize (H a (or_introl eq_refl)). discriminate H.
Qed.
Lemma top_of_entries : fold_right omax None (map (fun e => Some (exp (num_in v (faced (fst (fst e)) (snd (fst e)))))) (entries g x)) = Some top_is.
Proof.
  rewrite <- top_largest. unfold largest, numbers_of. rewrite !map_map. f_equal. destruct fine_terms_are as [_ [L1 [L2 _]] _ _ _ _].
  assert (E : addends y = map (fun e => snd (fst e)) (entries g x)).
  { unfold entries. fold y. revert L1 L2. generalize (summands x) (modes g). generalize (addends y). induction l as [|a l IH]; intros s q A B; destruct s, q; try easy. cbn [combine map fst snd]. f_equal. apply IH; simpl in *; lia. }
  rewrite E, map_map. apply map_ext. intros e. unfold term_exponent, d, entered_sum. cbn [zero_exponent normalise]. unfold num_in, faced; cbn [exp significand code low]. now destruct (is_zero _).
Qed.

Definition pairs_of : list (number * addend) := combine (summands x) (addends y).
Definition whole_count : Z := zsum (map count_of pairs_of).

Lemma entries_pairs : map fst (entries g x) = pairs_of.
Proof.
  destruct fine_terms_are as [_ [L1 [L2 _]] _ _ _ _]. unfold entries, pairs_of. fold y. assert (L : length (combine (summands x) (addends y)) = length (modes g)) by (rewrite combine_length; lia).
  revert L. generalize (combine (summands x) (addends y)) (modes g). induction l as [|a l IH]; intros q A; destruct q; try easy. cbn [combine map fst]. f_equal. apply IH. simpl in A. lia.
Qed.

Let at_place i := count_of (nth i (summands x) nobody_summand, nth i (addends y) absent).

Lemma place_bounds i : (i < length (addends y))%nat -> 0 <= v (aligned (nth i (addends y) absent)) <= largest_aligned (nth i (addends y) absent).
Proof. intros I. destruct (entry_of (nth i (addends y) absent)) as [r [md E]]; [now apply nth_In|]. now apply (entry_cut r _ md). Qed.

Lemma summand_value i : value m v (signed_term (sign (nth i (summands x) nobody_summand)) (U (aligned (nth i (addends y) absent)))) = at_place i.
Proof. unfold at_place, count_of, with_sign, signed_term; cbn [fst snd value truth]. destruct (v _ =? 1); lia. Qed.

Lemma exact_tree t : held_bits g = None -> (forall q, In q (adding_claims g x t) -> holds ct q) -> (forall i, In i (places t) -> (i < length (addends y))%nat) ->
  sg (width_in m (tree_node t)) (v (tree_node t)) = zsum (map at_place (places t)) /\ - tree_bound y t <= sg (width_in m (tree_node t)) (v (tree_node t)) <= tree_bound y t.
Proof.
  intros RM. induction t as [n i|n l IHl r IHr]; intros Q P.
  - assert (H : T (Equal (Sg n) (signed_term (sign (nth i (summands x) nobody_summand)) (U (aligned (nth i (addends y) absent))))) = true) by (apply (Q (Claim [] _)); [now left|exact SOL|reflexivity]).
    unfold T in H. cbn [truth] in H. apply Z.eqb_eq in H. rewrite summand_value in H. cbn [value] in H. cbn [tree_node places map zsum fold_right tree_bound].
    pose proof (place_bounds i (P i (or_introl eq_refl))) as B. rewrite H. unfold at_place, count_of, with_sign; cbn [fst snd]. destruct (v (sign _) =? 1); lia.
  - cbn [adding_claims] in Q. rewrite RM in Q.
    destruct IHl as [SL BL]. { intros q I. apply Q. right. apply in_or_app. now left. } { intros i I. apply P. cbn [places]. apply in_or_app. now left. }
    destruct IHr as [SR BR]. { intros q I. apply Q. right. apply in_or_app. now right. } { intros i I. apply P. cbn [places]. apply in_or_app. now right. }
    assert (H : T (Equal (Sg n) (Plus (Sg (tree_node l)) (Sg (tree_node r)))) = true).
    { apply (Q (Claim [within_tree y l; within_tree y r] (Equal (Sg n) (Plus (Sg (tree_node l)) (Sg (tree_node r)))))); [now left|exact SOL|].
      cbn [given forallb]. unfold within_tree. rewrite !(proj2 (truth_within _ v _ _)) by (cbn [value]; assumption). reflexivity. }
    unfold T in H. cbn [truth value] in H. apply Z.eqb_eq in H. cbn [tree_node places tree_bound]. rewrite H, map_app, zsum_app. lia.
Qed.

Lemma wrapped_partials w t : held_bits g = Some w -> 0 < w -> (forall q, In q (adding_claims g x t) -> holds ct q) ->
  wrap w (sg (width_in m (tree_node t)) (v (tree_node t))) = wrap w (zsum (map at_place (places t))).
Proof.
  intros RM W. induction t as [n i|n l IHl r IHr]; intros Q.
  - assert (H : T (Equal (Sg n) (signed_term (sign (nth i (summands x) nobody_summand)) (U (aligned (nth i (addends y) absent))))) = true) by (apply (Q (Claim [] _)); [now left|exact SOL|reflexivity]).
    unfold T in H. cbn [truth] in H. apply Z.eqb_eq in H. rewrite summand_value in H. cbn [value] in H. cbn [tree_node places map zsum fold_right]. rewrite H. f_equal. lia.
  - cbn [adding_claims] in Q. rewrite RM in Q. specialize (IHl ltac:(intros q I; apply Q; right; apply in_or_app; now left)). specialize (IHr ltac:(intros q I; apply Q; right; apply in_or_app; now right)).
    assert (H : T (Equal (Sg n) (wrapped_term w (Plus (Sg (tree_node l)) (Sg (tree_node r))))) = true) by (apply (Q (Claim [] _)); [now left|exact SOL|reflexivity]).
    unfold T in H. cbn [truth] in H. apply Z.eqb_eq in H. rewrite wrapped_is in H by exact W. cbn [value] in H. cbn [tree_node places]. rewrite H, wrap_wrap, map_app, zsum_app, <- wrap_add, IHl, IHr. apply wrap_add.
Qed.

Lemma all_places : zsum (map at_place (places (partials y))) = whole_count.
Proof.
  destruct fine_terms_are as [FO [L1 _] _ _ _ _]. destruct (ok_parts ct d f y FO) as [_ [_ [_ [_ [_ P]]]]]. rewrite <- (zsum_perm _ _ (Permutation_map _ P)). unfold whole_count. f_equal.
  unfold pairs_of. replace (length (addends y)) with (length (combine (summands x) (addends y))) by (rewrite combine_length; lia).
  assert (E : forall i, at_place i = count_of (nth i (combine (summands x) (addends y)) (nobody_summand, absent))) by (intros i; unfold at_place; now rewrite combine_nth).
  rewrite (map_ext _ _ E). clear. generalize (combine (summands x) (addends y)). generalize (nobody_summand, absent). intros z l.
  assert (X : forall j (h : number * addend -> Z), map (fun i => h (nth (i - j) l z)) (seq j (length l)) = map h l).
  { induction l as [|a l IH]; intros j h; simpl; auto. rewrite Nat.sub_diag. f_equal. rewrite <- (IH (S j) h). apply map_ext_in. intros i I. apply in_seq in I. replace (i - j)%nat with (S (i - S j)) by lia. reflexivity. }
  rewrite <- (X 0%nat). apply map_ext. intros i. now rewrite Nat.sub_0_r.
Qed.

Definition sum_count : Z := sg (width_in m (total_node y)) (v (total_node y)).

Lemma sum_count_is :
  sum_count = (match held_bits g with Some w => wrap w whole_count | None => whole_count / 2 ^ dropped g * 2 ^ dropped g end) /\ Z.abs sum_count <= count_bound g x /\
  T (count_range g x) = true.
Proof.
  destruct fine_terms_are as [FO _ _ NO DR RM]. destruct claims_parts as [_ [_ [CT CC]]]. rewrite Forall_forall in CT. unfold count_claims, count_bound in *. fold y in CC. fold y.
  destruct (ok_parts ct d f y FO) as [_ [_ [_ [_ [_ P]]]]].
  destruct (held_bits g) as [w|] eqn:R.
  - destruct RM as [W _]. pose proof (wrapped_partials w (partials y) R W CT) as WT. rewrite all_places in WT.
    assert (H : T (Equal (n_term y) (wrapped_term w (Sg (tree_node (partials y))))) = true) by (apply (use_all _ (Claim [] _) CC); [now left|reflexivity]).
    unfold T in H. cbn [truth] in H. apply Z.eqb_eq in H. rewrite wrapped_is in H by exact W. cbn [value n_term] in H. fold sum_count in H. rewrite H, WT.
    pose proof (wrap_bounds w whole_count W) as WR. split; [reflexivity|]. split; [lia|]. unfold count_range. rewrite R. unfold T. cbn [truth value n_term]. fold y m.
    change (sg (width_in m (total_node y)) (v (total_node y))) with sum_count. rewrite H, WT, andb_true_iff, Z.leb_le, Z.ltb_lt. lia.
  - destruct (exact_tree (partials y) R CT) as [S B]. { intros i I. apply (Permutation_in _ (Permutation_sym P)) in I. apply in_seq in I. lia. }
    rewrite all_places in S. assert (K : forallb T [within_tree y (partials y)] = true) by (cbn [forallb]; unfold T, within_tree; rewrite (proj2 (truth_within _ v _ _)) by (cbn [value]; exact B); reflexivity).
    pose proof (use_all _ _ CC (or_introl eq_refl) K) as H1. pose proof (use_all _ _ CC (or_intror (or_introl eq_refl)) K) as H2. pose proof (use_all _ _ CC (or_intror (or_intror (or_introl eq_refl))) K) as H3.
    unfold T in H1, H2, H3. cbn [goal truth value n_term] in H1, H2, H3. apply Z.leb_le in H1. apply Z.ltb_lt in H2. apply Z.eqb_eq in H3. fold m in H1, H2. fold sum_count in H1, H2. rewrite S in H1, H2, B.
    rewrite Z.pow_0_r, Z.div_1_r in H3. pose proof (pow2_pos (dropped g) ltac:(lia)) as PD. set (q := 2 ^ dropped g) in *.
    assert (M : sum_count mod q = 0).
    { unfold sum_count, sg. destruct (_ <? _); [exact H3|]. replace (2 ^ width_in m (total_node y)) with (2 ^ (width_in m (total_node y) - dropped g) * q) by (unfold q; rewrite <- Z.pow_add_r by lia; f_equal; lia).
      replace (v (total_node y) - 2 ^ (width_in m (total_node y) - dropped g) * q) with (v (total_node y) + - 2 ^ (width_in m (total_node y) - dropped g) * q) by lia. rewrite Z.mod_add by lia. exact H3. }
    pose proof (Z.div_mod sum_count q ltac:(lia)) as DM. rewrite M in DM.
    assert (E : whole_count / q = sum_count / q) by (symmetry; apply Z.div_unique with (whole_count - sum_count); [left|]; lia).
    assert (AB : Z.abs sum_count <= tree_bound y (partials y) + q) by lia. split; [rewrite E; lia|]. split; [exact AB|].
    unfold count_range. rewrite R. unfold T. apply truth_within. cbn [value n_term]. fold y m. change (sg (width_in m (total_node y)) (v (total_node y))) with sum_count. unfold count_bound. rewrite R. fold y q. lia.
Qed.

Lemma count_known_true : forallb T (count_known g x) = true.
Proof.
  destruct fine_terms_are as [FO _ _ NO _ _]. destruct claims_parts as [CA _]. destruct sum_count_is as [_ [_ C1]].
  unfold count_known. cbn [forallb]. fold y.
  assert (C2 : T (AtMost (U (top y)) (Num_ (top_span y))) = true).
  { apply (use_all _ (Claim (in_tops (tops y)) (AtMost (U (top y)) (Num_ (top_span y)))) CA). { unfold aligned_claims. do 2 (apply in_or_app; right). right; now left. }
    now destruct (tops_are ct (fun _ => []) d f y v FO CA SOL (fun _ _ _ => eq_refl) entered_finite). }
  now rewrite C1, C2.
Qed.
End Finite.

(** ** Its end *)

Variable e : Finish.ending.
Hypothesis EO : ending_ok m k e = true.
Hypothesis EN : forall i, In i (ending_nodes e) -> fits m v i.

Section Plain.
Let q := plain_round g x.
Hypothesis KC : Forall (holds ct) (kept_claims k e q).
Hypothesis OC : Forall (holds ct) (outcome_claims k e q).
Hypothesis ZS : zsign k = Positive.

Lemma plain_finished : Forall (fun r => T (finite r) = true) (summands x) -> finished ct k e q v false sum_count (top_is - f).
Proof.
  intros F. destruct (sum_count_is F) as [_ [B _]]. pose proof (count_known_true F) as K.
  assert (CT : counted ct q v sum_count (top_is - f)) by (constructor; cbn [q plain_round size no_size Finish.down unit]; try reflexivity; cbn [value unit_term]; unfold top_is; fold y f; lia).
  assert (AB : Z.abs sum_count <= bound q) by exact B.
  pose proof (kept_is ct k e q v EO KC SOL EN _ _ CT AB K) as KF. constructor; auto; try reflexivity.
  intros TI Nz R. exact (tiny_direct ct k e q v EO KC SOL EN _ _ CT AB K TI Nz R).
Qed.

(** A number that is the conversion of the sum is what the circuit hands on, and so are special values. *)
Theorem plain_sound R : (Forall (fun r => T (finite r) = true) (summands x) -> exists s, R = convert k s sum_count (top_is - f)) ->
  same_val (on_numbers (fun _ => R) (map (val_in v) (summands x))) (val_in v (outcome e)).
Proof.
  intros H. apply (special_or_sum ct v SOL k e q (summands x) R EO OC eq_refl). intros F. destruct (H F) as [s E]. exists false, sum_count, (top_is - f).
  split; [|now apply plain_finished]. rewrite E. unfold convert. now rewrite ZS.
Qed.

Lemma plain_usual : (v (nan (outcome e)) =? 1) = false -> (v (inf (outcome e)) =? 1) = false -> forallb T (usual k e q) = true.
Proof.
  intros N I. destruct (inf_not_num ct k e q v OC SOL N I) as [A B]. pose proof (specials_none ct v q (summands x) eq_refl A B) as F.
  exact (usual_is ct k e q v _ _ _ A B (plain_finished F)).
Qed.
End Plain.

Section Sticky.
Variables (lost : list positive) (s : sum) (carry : Z).
Let k1 := signed_zeros k.
Let q := sticky_round g k x lost.
Let low := low_places k.
Hypothesis KC : Forall (holds ct) (kept_claims k1 e q).
Hypothesis OC : Forall (holds ct) (outcome_claims k1 e q).
Hypothesis LC : Forall (holds ct) (lost_claims m g x lost).
Hypothesis LL : length lost = length (addends y).
Hypothesis ZS : zsign k = SumSign.
Hypothesis SB : fraction_bits s = Some f /\ carry_bits s = Some carry /\ held_bits g = Some (1 + (f + 1 + carry)).
Hypothesis SA : alignment s = RZ /\ normalise s = false /\ out s = k.
Hypothesis MS : cut_by g = RZ /\ forall md, In md (modes g) -> md = RZ.
Hypothesis OWN : Forall (fun r => T (finite r) = true) (summands x) -> forall r a, In (r, a) (combine (summands x) (addends y)) ->
  v (code (of a)) + Finish.low (of a) = v (code r) + Finish.low r /\ v (significand r) <> 0.

Definition sticky_count : Z :=
  if sum_count =? - 2 ^ (f + 1 + carry) then 0 else
  sum_count * 2 ^ low + (if T (any_of (map Is lost)) && negb (sum_count =? 0) then Z.sgn sum_count else 0).

Let EO1 : ending_ok m k1 e = true. Proof. exact EO. Qed.
Lemma low_positive : 0 <= low.
Proof. destruct (ending_parts ct k e EO) as [P _]. unfold low, low_places. pose proof (deciding_some (rho k)). lia. Qed.

Lemma sticky_finished : Forall (fun r => T (finite r) = true) (summands x) -> finished ct k1 e q v (sum_count <? 0) sticky_count (top_is - f - low).
Proof.
  intros F. destruct (sum_count_is F) as [_ [B _]]. pose proof (count_known_true F) as K. destruct SB as [_ [_ RM]].
  pose proof low_positive as LP. pose proof (pow2_pos low LP) as PL.
  assert (LW : T (lowest g x) = (sum_count =? - 2 ^ (f + 1 + carry))).
  { unfold lowest. rewrite RM. unfold T. cbn [truth value n_term]. do 3 f_equal. lia. }
  assert (SZ : value m v (size q) = Z.abs sticky_count).
  { cbn [q sticky_round size]. change (value m v (If ?c ?a ?b)) with (if truth m v c then value m v a else value m v b). cbv beta. fold T. rewrite LW. unfold sticky_count.
    destruct (sum_count =? - 2 ^ (f + 1 + carry)); [reflexivity|].
    match goal with |- value m v ?t = _ => assert (VS : value m v t = Z.abs sum_count * 2 ^ low + (if T (any_of (map Is lost)) && negb (sum_count =? 0) then 1 else 0)) by reflexivity; rewrite VS end. clear VS.
    destruct (T (any_of (map Is lost))); cbn [andb]; [|rewrite !Z.add_0_r, Z.abs_mul, (Z.abs_eq (2 ^ low)) by lia; reflexivity].
    destruct (Z.eqb_spec sum_count 0) as [E|E]; cbn [negb]; [rewrite E; reflexivity|].
    destruct (Z.lt_ge_cases sum_count 0); [rewrite (Z.sgn_neg sum_count) by lia|rewrite (Z.sgn_pos sum_count) by lia]; nia. }
  assert (NG : sticky_count = 0 <-> sum_count = 0 \/ sum_count = - 2 ^ (f + 1 + carry)).
  { assert (G : forall b : bool, sum_count * 2 ^ low + (if b && negb (sum_count =? 0) then Z.sgn sum_count else 0) = 0 <-> sum_count = 0).
    { intros b. destruct (Z.eqb_spec sum_count 0) as [E|E]; [rewrite E, andb_false_r; lia|]. destruct b; cbn [andb negb]; (split; [|easy]); intros Q; exfalso;
      [destruct (Z.lt_ge_cases sum_count 0); [rewrite Z.sgn_neg in Q by lia|rewrite Z.sgn_pos in Q by lia]; nia|nia]. }
    unfold sticky_count. destruct (Z.eqb_spec sum_count (- 2 ^ (f + 1 + carry))); [tauto|]. rewrite G. tauto. }
  assert (DN : (sticky_count <? 0) = (sum_count <? 0) && negb (sum_count =? - 2 ^ (f + 1 + carry))).
  { unfold sticky_count. destruct (sum_count =? - 2 ^ (f + 1 + carry)); cbn [negb]; [now rewrite andb_false_r|]. rewrite andb_true_r.
    destruct (T (any_of (map Is lost))); cbn [andb]; [destruct (Z.eqb_spec sum_count 0) as [E|E]; cbn [negb]|].
    - rewrite E. reflexivity.
    - destruct (Z.ltb_spec sum_count 0); [rewrite Z.sgn_neg by lia; apply Z.ltb_lt; nia|rewrite Z.sgn_pos by lia; apply Z.ltb_ge; nia].
    - destruct (Z.ltb_spec sum_count 0); [apply Z.ltb_lt; nia|apply Z.ltb_ge; nia]. }
  assert (CT : counted ct q v sticky_count (top_is - f - low)).
  { constructor; [exact SZ| | |].
    - cbn [q sticky_round no_size]. change (truth (widths_of ct) v (Either ?a ?b)) with (T a || T b). rewrite LW. change (T (n_zero (entered x))) with (sum_count =? 0).
      destruct (Z.eqb_spec sticky_count 0) as [Q|Q]; [|]; destruct (Z.eqb_spec sum_count 0), (Z.eqb_spec sum_count (- 2 ^ (f + 1 + carry))); cbn [orb]; auto; tauto.
    - cbn [q sticky_round Finish.down]. change (truth (widths_of ct) v (Both ?a ?b)) with (T a && T b). change (T (Negation ?a)) with (negb (T a)). rewrite LW, DN. reflexivity.
    - cbn [q sticky_round unit value]. unfold top_is, low. fold y f. lia. }
  assert (AB : Z.abs sticky_count <= bound q).
  { cbn [q sticky_round bound]. fold low. unfold sticky_count. destruct (sum_count =? - 2 ^ (f + 1 + carry)); [nia|]. destruct (T (any_of (map Is lost)) && negb (sum_count =? 0)); [|rewrite Z.add_0_r, Z.abs_mul, (Z.abs_eq (2 ^ low)) by lia; nia].
    destruct (Z.lt_trichotomy sum_count 0) as [|[E|]]; [rewrite Z.sgn_neg by lia|rewrite E; cbn; nia|rewrite Z.sgn_pos by lia]; nia. }
  pose proof (kept_is ct k1 e q v EO1 KC SOL EN _ _ CT AB K) as KF. destruct CT as [C1 C2 C3 C4]. constructor; auto.
  intros TI Nz R. exact (tiny_direct ct k1 e q v EO1 KC SOL EN _ _ ltac:(constructor; eauto) AB K TI Nz R).
Qed.

Section Values.
Hypothesis F : Forall (fun r => T (finite r) = true) (summands x).

Lemma is_lost r a : In (r, a) (combine (summands x) (addends y)) ->
  let t := num_in v r in let u := top_is - f in
  T (lost_formula m g a) = negb (cut RZ u t * 2 ^ Z.max 0 (u - lsb t) =? signed t * 2 ^ Z.max 0 (lsb t - u)).
Proof.
  intros I t u. destruct MS as [M1 M2]. destruct (fine_terms_are) as [FO [L1 [L2 _]] EE NO _ _]. destruct claims_parts as [CA _].
  assert (I3 : In (r, a, RZ) (entries g x)).
  { pose proof (entries_pairs) as EP. unfold pairs_of in EP. rewrite <- EP in I. apply in_map_iff in I. destruct I as [[[r' a'] md] [Q J]]. cbn [fst] in Q. inversion Q; subst. rewrite <- (M2 md); [exact J|]. unfold entries in J. exact (in_combine_r _ _ _ _ J). }
  destruct (OWN F r a I) as [OE NZ]. destruct (entry_in _ _ _ I3) as [_ A]. destruct (entry_cut F r a RZ I3) as [C [A0 _]].
  assert (FT : num_in v (faced r a) = t) by (unfold t, num_in, faced; cbn [sign significand code Finish.low bits_below]; now rewrite OE).
  rewrite FT in C. fold u in C. rewrite C. specialize (EE _ I3). unfold entry_ok in EE. rewrite !andb_true_iff, !Pos.eqb_eq, Z.eqb_eq in EE. destruct EE as [[[[S FR] _] _] _].
  set (gg := v (significand r)) in *. set (al := v (aligned a)) in *.
  assert (G0 : 0 <= gg /\ gg < 2 ^ width_in m (significand (of a))). { unfold gg. rewrite <- S. apply (NO (significand (of a))). unfold front_nodes. do 2 right. apply in_flat_map. exists a. split; auto. now left. }
  assert (S0 : 0 <= v (shift a)). { apply (NO (shift a)). unfold front_nodes. do 2 right. apply in_flat_map. exists a. split; auto. simpl; auto. }
  assert (NZT : T (Negation (Is (zero_node a))) = true).
  { unfold T. cbn [truth]. pose proof (zero_is ct (fun _ => []) d f y v CA SOL (fun _ _ _ => eq_refl) (entered_finite F) a A) as ZI. fold m in ZI. rewrite ZI. unfold is_zero, num_in; cbn [sig]. rewrite S. fold gg. destruct (Z.eqb_spec gg 0); [easy|reflexivity]. }
  assert (SH : v (shift a) = top_is - (v (code (of a)) + Finish.low (of a))).
  { set (qq := nth 0 (align_claims m d f y a) (Claim [] Never)). assert (H : T (goal qq) = true).
    { apply (use_all _ qq CA). { unfold aligned_claims. apply in_or_app. right. apply in_or_app. left. apply in_flat_map. exists a. split; auto. now left. }
      destruct (tops_are ct (fun _ => []) d f y v FO CA SOL (fun _ _ _ => eq_refl) (entered_finite F)) as [R _]. pose proof (spans_true ct (fun _ => []) d f y v CA SOL (fun _ _ _ => eq_refl) (entered_finite F)) as SP.
      unfold spans in SP. rewrite forallb_map, forallb_forall in SP.
      pose proof (below_top ct (fun _ => []) d f y v FO CA SOL (fun _ _ _ => eq_refl) (entered_finite F) a A NZT) as BT. fold m in R, SP, BT. fold T in R, BT.
      unfold qq. cbn [nth align_claims given]. change (forallb T (?p0 :: ?l)) with (T p0 && forallb T l). cbn [forallb] in R |- *. rewrite NZT, R, BT. unfold T. rewrite (SP a A). reflexivity. }
    unfold T, qq in H. cbn [nth align_claims goal truth value top_term exponent] in H. now apply Z.eqb_eq in H. }
  set (up_ := up f a) in *. set (dn := Fused.down f a) in *. assert (U0 : 0 <= up_) by apply Z.le_max_l. assert (D0 : 0 <= dn) by apply Z.le_max_l.
  set (w := align_width m f a). assert (W0 : 0 <= w) by (unfold w, align_width; fold up_; destruct (Z.lt_ge_cases (width_in m (significand (of a))) 0) as [L|L]; [rewrite Z.pow_neg_r in G0 by lia; lia|lia]).
  assert (AL : al * 2 ^ Z.min (v (shift a)) w * 2 ^ dn <= gg * 2 ^ up_).
  { set (qq := nth 1 (align_claims m d f y a) (Claim [] Never)). assert (H : T (goal qq) = true).
    { apply (use_all _ qq CA); [|reflexivity]. unfold aligned_claims. apply in_or_app. right. apply in_or_app. left. apply in_flat_map. exists a. split; auto. right; now left. }
    unfold T, qq in H. cbn [nth align_claims goal] in H. unfold d, entered_sum in H. cbn [alignment] in H. rewrite M1 in H. cbn [truth value clamped] in H. rewrite andb_true_iff, Z.leb_le in H. destruct H as [H _]. rewrite S in H. exact H. }
  pose proof (pow2_pos up_ U0) as PU. pose proof (pow2_pos dn D0) as PD. pose proof (pow2_pos (v (shift a)) S0) as PS.
  assert (GW : gg * 2 ^ up_ < 2 ^ w).
  { unfold w, align_width. fold up_. destruct (Z.lt_ge_cases (width_in m (significand (of a))) 0) as [L|L]; [rewrite Z.pow_neg_r in G0 by lia; lia|]. rewrite Z.pow_add_r by lia. apply Z.mul_lt_mono_pos_r; lia. }
  assert (E1 : (al * 2 ^ Z.min (v (shift a)) w * 2 ^ dn =? gg * 2 ^ up_) = (al * 2 ^ (v (shift a) + dn) =? gg * 2 ^ up_)).
  { destruct (Z.le_gt_cases (v (shift a)) w) as [L|L]; [rewrite Z.min_l by lia; rewrite Z.pow_add_r by lia; now rewrite Z.mul_assoc|].
    rewrite Z.min_r in AL |- * by lia. assert (al = 0) by (pose proof (pow2_pos w W0); assert (2 ^ w <= 2 ^ w * 2 ^ dn) by nia; nia). rewrite H. now rewrite !Z.mul_0_l. }
  assert (K : u - lsb t = v (shift a) + dn - up_).
  { unfold u, lsb, t, num_in; cbn [exp frac]. rewrite SH, OE. unfold dn, up_, Fused.down, up. rewrite FR. lia. }
  assert (LF : T (lost_formula m g a) = negb (al * 2 ^ Z.min (v (shift a)) w * 2 ^ dn =? gg * 2 ^ up_)).
  { unfold T, lost_formula. cbn [truth value clamped]. fold f. rewrite S. reflexivity. }
  rewrite LF, E1. f_equal. unfold count_of; cbn [fst snd]. fold al. assert (ST : signed t = if v (sign r) =? 1 then - gg else gg) by reflexivity. rewrite ST. replace (lsb t - u) with (- (u - lsb t)) by lia. rewrite K. set (j := v (shift a) + dn - up_).
  assert (WS : forall b (a1 a2 b1 b2 : Z), (with_sign b a1 * a2 =? (if b then - b1 else b1) * b2) = (a1 * a2 =? b1 * b2)).
  { intros b a1 a2 b1 b2. destruct b; unfold with_sign; auto. destruct (Z.eqb_spec (- a1 * a2) (- b1 * b2)), (Z.eqb_spec (a1 * a2) (b1 * b2)); auto; lia. }
  rewrite WS. destruct (Z.le_gt_cases 0 j) as [J|J].
  - rewrite Z.max_r, (Z.max_l 0 (- j)), Z.pow_0_r, Z.mul_1_r by lia. assert (PE : 2 ^ (v (shift a) + dn) = 2 ^ j * 2 ^ up_) by (rewrite <- Z.pow_add_r by lia; f_equal; unfold j; lia).
    rewrite PE, Z.mul_assoc. now apply eqb_scaled.
  - rewrite Z.max_l, (Z.max_r 0 (- j)), Z.pow_0_r, Z.mul_1_r by lia. assert (PE : 2 ^ up_ = 2 ^ (- j) * 2 ^ (v (shift a) + dn)) by (rewrite <- Z.pow_add_r by lia; f_equal; unfold j; lia).
    rewrite PE, Z.mul_assoc. apply eqb_scaled. apply pow2_pos. lia.
Qed.

Let ts := map (num_in v) (summands x).
Let u := top_is - f.

Lemma combined_fst {A B} (l : list A) (r : list B) : length l = length r -> l = map fst (combine l r).
Proof. revert r. induction l as [|a l IH]; intros r L; destruct r; try easy. cbn [combine map fst]. f_equal. apply IH. now injection L. Qed.
Lemma pairs_fst : summands x = map fst (combine (summands x) (addends y)).
Proof. destruct (fine_terms_are) as [_ [L1 _] _ _ _ _]. now apply combined_fst. Qed.

Lemma some_lost : T (any_of (map Is lost)) = existsb (fun t => negb (cut RZ u t * 2 ^ Z.max 0 (u - lsb t) =? signed t * 2 ^ Z.max 0 (lsb t - u))) ts.
Proof.
  destruct (fine_terms_are) as [_ [L1 _] _ _ _ _]. unfold T. rewrite truth_any, existsb_map. unfold ts. rewrite existsb_map.
  rewrite pairs_fst, existsb_map.
  assert (LC' : forall n a, In (n, a) (combine lost (addends y)) -> (v n =? 1) = T (lost_formula m g a)).
  { intros n a I. assert (H : T (Iff (Is n) (lost_formula m g a)) = true) by (apply (use_all _ (Claim [] (Iff (Is n) (lost_formula m g a))) LC); [|reflexivity]; unfold lost_claims; apply in_map_iff; exists (n, a); auto).
    unfold T in H. rewrite truth_iff in H. apply eqb_prop in H. exact H. }
  assert (IL : forall r a, In (r, a) (combine (summands x) (addends y)) -> T (lost_formula m g a) = negb (cut RZ u (num_in v r) * 2 ^ Z.max 0 (u - lsb (num_in v r)) =? signed (num_in v r) * 2 ^ Z.max 0 (lsb (num_in v r) - u))) by (intros r a I; exact (is_lost r a I)).
  revert L1 LL LC' IL. generalize (addends y). generalize (summands x). clear. intros rs addr. revert rs. generalize lost. induction addr as [|a l IH]; intros ns rs L1 L2 H1 H2; destruct ns as [|n ns], rs as [|r rs]; try easy.
  cbn [combine existsb fst]. rewrite <- (H2 r a) by (now left). cbn [truth]. rewrite (H1 n a) by (now left). f_equal. apply IH; try (simpl in *; lia); intros; [apply H1|apply H2]; now right.
Qed.

Lemma cut_terms : map (cut RZ u) ts = map count_of pairs_of.
Proof.
  unfold ts. rewrite pairs_fst, !map_map. unfold pairs_of. fold y. apply map_ext_in. intros [r a] I. cbn [fst].
  destruct MS as [M1 M2]. destruct (OWN F r a I) as [OE _].
  assert (I3 : In (r, a, RZ) (entries g x)).
  { pose proof (entries_pairs) as EP. unfold pairs_of in EP. rewrite <- EP in I. apply in_map_iff in I. destruct I as [[[r' a'] md] [Q J]]. cbn [fst] in Q. inversion Q; subst. rewrite <- (M2 md); [exact J|]. unfold entries in J. exact (in_combine_r _ _ _ _ J). }
  destruct (entry_cut F r a RZ I3) as [C _]. fold u in C. rewrite <- C. f_equal. unfold num_in, faced; cbn [sign significand code Finish.low bits_below]. now rewrite OE.
Qed.

Lemma own_largest : largest s ts = Some top_is.
Proof.
  rewrite <- (top_of_entries F). unfold largest, ts. rewrite pairs_fst, !map_map. f_equal. pose proof (entries_pairs) as EP. unfold pairs_of in EP. fold y in EP. rewrite <- EP, map_map. apply map_ext_in. intros [[r a] md] I. cbn [fst snd].
  assert (I2 : In (r, a) (combine (summands x) (addends y))) by (rewrite <- EP; apply in_map_iff; exists (r, a, md); auto).
  destruct (OWN F r a I2) as [OE NZ]. destruct SA as [_ [NN _]]. unfold term_exponent. rewrite NN. unfold is_zero, num_in, faced; cbn [sig exp significand code Finish.low]. destruct (Z.eqb_spec (v (significand r)) 0); [easy|]. now rewrite OE.
Qed.

(** The sum of the specification that remembers what is cut off is the conversion of the circuit's. *)
Theorem sticky_is : sticky_sum s ts = convert k1 (sum_count <? 0) sticky_count (u - low).
Proof.
  destruct SB as [FB [CB RM]]. destruct SA as [AL [NN OU]]. pose proof low_positive as LP. pose proof (pow2_pos low LP) as PL. destruct (sum_count_is F) as [SC _]. rewrite RM in SC.
  unfold sticky_sum. assert (UN : unit_of s ts = u) by (unfold unit_of; now rewrite FB, own_largest). rewrite UN, AL, OU, CB, FB, own_largest, <- some_lost.
  assert (HN : held s (zsum (map (cut RZ u) ts)) = sum_count) by (rewrite cut_terms; unfold held; rewrite CB, FB, SC; reflexivity). rewrite HN. cbv zeta. unfold sticky_count. fold (low_places k). fold low.
  destruct (Z.eqb_spec sum_count (- 2 ^ (f + 1 + carry))) as [LO|LO].
  { rewrite ZS. assert (NL : (sum_count <? 0) = true).
    { destruct (fine_terms_are) as [_ _ _ _ _ RM']. rewrite RM in RM'. destruct RM' as [W _]. rewrite LO. apply Z.ltb_lt. pose proof (pow2_pos (f + 1 + carry) ltac:(lia)). lia. }
    rewrite NL. unfold convert. rewrite round_div_0. reflexivity. }
  set (sg_ := sign_of (rho k) sum_count ts (map (cut RZ u) ts)).
  assert (SG : sum_count <> 0 -> sg_ = (sum_count <? 0)) by (intros N; unfold sg_, sign_of; destruct (Z.eqb_spec sum_count 0); easy).
  destruct (Z.eqb_spec sum_count 0) as [Z0|Z0].
  - rewrite Z0, andb_false_r. cbn [negb]. rewrite Z.mul_0_l, Z.add_0_r. apply unsigned_zero. exact ZS.
  - rewrite (SG Z0). destruct (T (any_of (map Is lost))); cbn [andb negb].
    + apply signed_same; auto. destruct (Z.lt_ge_cases sum_count 0); [rewrite Z.sgn_neg by lia|rewrite Z.sgn_pos by lia]; nia.
    + rewrite Z.add_0_r. rewrite signed_same by auto. apply convert_ext; auto. rewrite mult_IZR. rewrite <- (bp_Z low LP). rewrite Rmult_assoc, <- Flocq.Core.Raux.bpow_plus. do 2 f_equal. lia.
Qed.
End Values.

(** The circuit hands on what the specification's sum is, special values too. *)
Theorem sticky_sound : same_val (on_numbers (sticky_sum s) (map (val_in v) (summands x))) (val_in v (outcome e)).
Proof.
  replace (on_numbers (sticky_sum s) (map (val_in v) (summands x))) with (on_numbers (fun _ => sticky_sum s (map (num_in v) (summands x))) (map (val_in v) (summands x))).
  - apply (special_or_sum ct v SOL k1 e q (summands x) _ EO1 OC eq_refl). intros F. exists (sum_count <? 0), sticky_count, (top_is - f - low). split; [now apply sticky_is|now apply sticky_finished].
  - unfold on_numbers. destruct (numbers_or_none ct v (summands x)) as [N|F]; [now rewrite N|now rewrite (numbers_all ct v _ F)].
Qed.

Lemma sticky_usual : (v (nan (outcome e)) =? 1) = false -> (v (inf (outcome e)) =? 1) = false -> forallb T (usual k1 e q) = true.
Proof.
  intros N I. destruct (inf_not_num ct k1 e q v OC SOL N I) as [A B]. pose proof (specials_none ct v q (summands x) eq_refl A B) as F.
  exact (usual_is ct k1 e q v _ _ _ A B (sticky_finished F)).
Qed.
End Sticky.
End Sound.
