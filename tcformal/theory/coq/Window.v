(** Exact sums of several terms in a circuit: products in a window that holds them all, and c, added to that as a number. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals Permutation.
From TC Require Import Spec Theorems Design Rounded Bv Circuit Finish Fused Leaves Stage After Frames.
Import ListNotations.
Open Scope Z_scope.

(** A term: its number, the largest code of a finite one, and its magnitude in the window. *)
Record placed := Placed { term_of : number; code_span : Z; in_window : positive }.
(** The terms in units of [2^window_low], the order in which they are added, their sum as a number, c, both with their
    leading ones on top, and the end. *)
Record window := Window {
  window_terms : list placed; window_low : Z; window_sum : sum_tree;
  window_number : operand; window_c : operand;
  window_pair : front; window_bits : Z;
  window_ending : ending
}.

Section Claims.
Variables (m : widths) (d : sum) (q : window).

Definition nothing_placed : placed := Placed (Number 1 1 1 0 0 1 1) 0 1.
Definition up_by (a : placed) : Z := low (term_of a) - bits_below (term_of a) - window_low q.
Definition in_code (a : placed) : formula := AtMost (U (code (term_of a))) (Num_ (code_span a)).
Definition placed_claims (a : placed) : list claim :=
  let r := term_of a in
  [Claim [finite r] (in_code a);
   Claim [in_code a] (Equal (U (in_window a)) (Shift (U (significand r)) (Plus (U (code r)) (Num_ (up_by a)))))].
Definition placed_bound (a : placed) : Z := (2 ^ width_in m (significand (term_of a)) - 1) * 2 ^ (code_span a + up_by a).

Fixpoint window_bound (t : sum_tree) : Z :=
  match t with Leaf _ i => placed_bound (nth i (window_terms q) nothing_placed) | Partial _ l r => window_bound l + window_bound r end.
Definition in_bound (t : sum_tree) : formula := within (window_bound t) (Sg (tree_node t)).
Fixpoint window_tree_claims (t : sum_tree) : list claim :=
  match t with
  | Leaf n i =>
      let a := nth i (window_terms q) nothing_placed in
      [Claim [] (Equal (Sg n) (If (Is (sign (term_of a))) (Minus (Num_ 0) (U (in_window a))) (U (in_window a))))]
  | Partial n l r =>
      Claim [in_bound l; in_bound r] (Equal (Sg n) (Plus (Sg (tree_node l)) (Sg (tree_node r)))) :: window_tree_claims l ++ window_tree_claims r
  end.

Definition window_total : term := Sg (tree_node (window_sum q)).
Definition window_signs : list formula := map (fun a => Is (sign (term_of a))) (window_terms q).
Definition window_value_claims : list claim :=
  let y := its (window_number q) in
  [Claim [] (finite y);
   Claim [in_bound (window_sum q)]
     (Iff (Is (sign y)) (Either (Less window_total (Num_ 0)) (Both (Equal window_total (Num_ 0)) (all_of window_signs))));
   Claim [in_bound (window_sum q)] (Equal (U (significand y)) (Abs window_total));
   Claim [] (Equal (U (code y)) (Num_ 0))].

Definition window_pairs : list (operand * number) := combine [window_number q; window_c q] (numbers_of (window_pair q)).
Definition window_operands : list number := map term_of (window_terms q) ++ [its (window_c q)].

(** The sign of the sum: that of a zero is minus where all signs are, or one is and sums are rounded down. *)
Definition window_sign : formula :=
  let signs := map (fun r => Is (sign r)) window_operands in
  Either (Both (Negation (n_zero (window_pair q))) (Less (n_term (window_pair q)) (Num_ 0)))
    (Both (n_zero (window_pair q)) (match rho (out d) with RD => any_of signs | _ => all_of signs end)).

Definition window_round : to_round :=
  let x := fused_sum (odd_sum d (window_bits q)) (window_bits q) (window_pair q) in
  ToRound window_operands (size x) (no_size x) (Finish.down x) (Finish.unit x) (bound x) (known x) window_sign.

Definition window_claims : list claim :=
  flat_map placed_claims (window_terms q) ++ window_tree_claims (window_sum q) ++ window_value_claims ++
  match window_pairs with
  | [y; c] => lead_claims_when [in_bound (window_sum q)] y ++ lead_claims_when [finite (its (window_c q))] c
  | _ => []
  end ++
  front_claims m (known_of window_pairs) (odd_sum d (window_bits q)) (window_bits q) (window_pair q) ++
  kept_claims (out d) (window_ending q) window_round ++ outcome_claims (out d) (window_ending q) window_round.

Definition placed_ok (a : placed) : bool :=
  in_circuit m (significand (term_of a)) && in_circuit m (code (term_of a)) && (0 <=? code_span a) && (0 <=? up_by a).
Definition window_ok : bool :=
  match fraction_bits d with None => true | Some _ => false end && forallb placed_ok (window_terms q) && negb (length (window_terms q) =? 0)%nat &&
  ((length (places (window_sum q)) =? length (window_terms q))%nat && forallb (fun i => (i <? length (window_terms q))%nat) (places (window_sum q)) &&
   forallb (fun i => existsb (Nat.eqb i) (places (window_sum q))) (seq 0 (length (window_terms q)))) &&
  (low (its (window_number q)) - bits_below (its (window_number q)) =? window_low q) &&
  front_ok m (odd_sum d (window_bits q)) (window_bits q) (window_pair q) && ending_ok m (out d) (window_ending q) &&
  forallb (in_circuit m) (significand (its (window_c q)) :: front_nodes (window_pair q) ++ ending_nodes (window_ending q)) &&
  (length (numbers_of (window_pair q)) =? 2)%nat && forallb (lead_ok m (window_bits q)) window_pairs && (p (out d) + 2 + deciding_bits (rho (out d)) <=? window_bits q).
End Claims.

(** * Exact sums *)

Lemma exact_total d ts : fraction_bits d = None -> (IZR (total d ts) * bp (unit_of d ts) = exact_sum ts)%R.
Proof.
  intros F. assert (E : total d ts = zsum (counts d ts)) by (unfold total; rewrite F; now destruct (carry_bits d)). rewrite E. apply lossless_total.
  unfold lossless, unit_of. rewrite F. apply Forall_forall. intros t I _. now apply least_lsb_le.
Qed.

Lemma zsum_signs l : (forall x, In x l -> 0 <= x) -> 0 <= zsum l /\ (zsum l = 0 -> forallb (Z.eqb 0) l = true).
Proof.
  induction l as [|x l IH]; intros H; [cbn; lia|]. destruct IH as [A B]; [intros; apply H; now right|]. pose proof (H x (or_introl eq_refl)). cbn [zsum fold_right forallb]. fold (zsum l).
  split; [lia|]. intros Z0. rewrite B by lia. destruct (Z.eqb_spec 0 x); [reflexivity|lia].
Qed.
Lemma zsum_signs_down l : (forall x, In x l -> x <= 0) -> zsum l = 0 -> forallb (Z.eqb 0) l = true.
Proof.
  intros H. assert (G : zsum l <= 0 /\ (zsum l = 0 -> forallb (Z.eqb 0) l = true)); [|tauto].
  induction l as [|x l IH]; [cbn; lia|]. destruct IH as [A B]; [intros; apply H; now right|]. pose proof (H x (or_introl eq_refl)). cbn [zsum fold_right forallb]. fold (zsum l).
  split; [lia|]. intros Z0. rewrite B by lia. destruct (Z.eqb_spec 0 x); [reflexivity|lia].
Qed.

(** The sign of an exact sum that is zero is that of all its terms, or rounded down that of one. *)
Lemma exact_zero_sign d ts : fraction_bits d = None -> ts <> [] -> Forall (fun x => 0 <= sig x) ts -> total d ts = 0 ->
  sign_of (rho (out d)) 0 ts (counts d ts) = match rho (out d) with RD => existsb neg ts | _ => forallb neg ts end.
Proof.
  intros F NE S T0. assert (E : zsum (counts d ts) = 0) by (revert T0; unfold total; rewrite F; now destruct (carry_bits d)).
  assert (CT : forall x, In x ts -> exists k, 0 <= k /\ cut (alignment d) (unit_of d ts) x = signed x * 2 ^ k).
  { intros x I. exists (lsb x - unit_of d ts). assert (L : unit_of d ts <= lsb x) by (unfold unit_of; rewrite F; now apply least_lsb_le). split; [lia|].
    unfold cut, round_div. destruct (Z.leb_spec (unit_of d ts - lsb x) 0); [|lia]. rewrite Z.shiftl_mul_pow2 by lia. do 2 f_equal. lia. }
  rewrite Forall_forall in S.
  assert (UP : existsb neg ts = false -> forallb (Z.eqb 0) (counts d ts) = true).
  { intros N. apply zsum_signs; auto. intros z I. unfold counts in I. apply in_map_iff in I. destruct I as [x [<- I]]. destruct (CT x I) as [k [K ->]]. specialize (S x I).
    assert (N1 : neg x = false) by (destruct (neg x) eqn:Q; auto; exfalso; assert (existsb neg ts = true) by (apply existsb_exists; eauto); congruence).
    unfold signed. rewrite N1. pose proof (pow2_pos k K). nia. }
  assert (DN : forallb neg ts = true -> forallb (Z.eqb 0) (counts d ts) = true).
  { intros N. apply zsum_signs_down; auto. intros z I. unfold counts in I. apply in_map_iff in I. destruct I as [x [<- I]]. destruct (CT x I) as [k [K ->]]. specialize (S x I).
    rewrite forallb_forall in N. unfold signed. rewrite (N x I). pose proof (pow2_pos k K). nia. }
  assert (AL : forallb neg ts = true -> existsb neg ts = true) by (destruct ts as [|x r]; [easy|]; cbn; now destruct (neg x)).
  assert (NO : forallb (fun x => negb (neg x)) ts = negb (existsb neg ts)) by (clear; induction ts as [|x r IH]; auto; cbn; rewrite IH; now destruct (neg x)).
  unfold sign_of. cbn [Z.eqb negb]. rewrite NO.
  destruct (forallb (Z.eqb 0) (counts d ts)), (forallb neg ts), (existsb neg ts), (rho (out d)); cbn in *;
    try reflexivity; try (specialize (AL eq_refl); discriminate); try (specialize (UP eq_refl); discriminate); try (specialize (DN eq_refl); discriminate).
Qed.

Section Sound.
Variables (ct : circuit) (d : sum) (q : window) (v : env).
Let m := widths_of ct.
Hypothesis SOL : solution ct v.
Hypothesis CIRC : circuit_ok ct = true.
Hypothesis OK : window_ok m d q = true.
Hypothesis CL : Forall (holds ct) (window_claims m d q).
Let T := truth m v.
Let c := out d.
Let e := odd_sum d (window_bits q).
Let C := its (window_c q).
Let Y := its (window_number q).
Let terms := window_terms q.

Lemma window_parts : fraction_bits d = None /\ forallb (placed_ok m q) terms = true /\ terms <> [] /\ Permutation (places (window_sum q)) (seq 0 (length terms)) /\
  low Y - bits_below Y = window_low q /\ front_ok m e (window_bits q) (window_pair q) = true /\ ending_ok m c (window_ending q) = true /\
  fits m v (significand C) /\ (forall i, In i (front_nodes (window_pair q)) -> fits m v i) /\ (forall i, In i (ending_nodes (window_ending q)) -> fits m v i) /\ p c + 2 + deciding_bits (rho c) <= window_bits q /\
  exists ly lc, numbers_of (window_pair q) = [ly; lc] /\ lead_ok m (window_bits q) (window_number q, ly) = true /\ lead_ok m (window_bits q) (window_c q, lc) = true.
Proof.
  unfold window_ok in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[[[[[[[F P] N] [[L1 L2] L3]] LW] FO] EO] I] L] LO] PB].
  rewrite forallb_forall in I. apply Nat.eqb_eq in L, L1. apply Z.leb_le in PB. apply Z.eqb_eq in LW. apply negb_true_iff, Nat.eqb_neq in N.
  assert (G : forall i, In i (significand (its (window_c q)) :: front_nodes (window_pair q) ++ ending_nodes (window_ending q)) -> fits m v i) by (intros i J; apply (in_map_fits ct v SOL CIRC); now apply I).
  split; [now destruct (fraction_bits d)|]. split; [exact P|]. split; [intros Q; apply N; unfold terms in Q; now rewrite Q|]. split.
  { symmetry. apply NoDup_Permutation_bis; [apply seq_NoDup|rewrite seq_length; unfold terms; lia|].
    intros i J. rewrite forallb_forall in L3. specialize (L3 i J). rewrite existsb_exists in L3. destruct L3 as [j [J1 J2]]. apply Nat.eqb_eq in J2. now subst. }
  repeat split; auto; try (intros; apply G; right; rewrite in_app_iff; tauto); try (apply G; now left).
  unfold window_pairs in LO. destruct (numbers_of (window_pair q)) as [|ly [|lc [|]]]; try easy. cbn [combine forallb] in LO. rewrite !andb_true_iff in LO. exists ly, lc. tauto.
Qed.

Lemma use r : In r (window_claims m d q) -> forallb T (given r) = true -> T (goal r) = true.
Proof. intros I. rewrite Forall_forall in CL. exact (CL r I v SOL). Qed.

(** A term in the window. *)
Lemma placed_is a : In a terms -> T (finite (term_of a)) = true ->
  0 <= v (in_window a) <= placed_bound m q a /\ 0 <= sig (num_in v (term_of a)) /\
  (IZR (with_sign (v (sign (term_of a)) =? 1) (v (in_window a))) * bp (window_low q) = V (num_in v (term_of a)))%R.
Proof.
  intros I F. destruct window_parts as [_ [P _]]. rewrite forallb_forall in P. specialize (P a I). unfold placed_ok in P. rewrite !andb_true_iff, !Z.leb_le in P. destruct P as [[[P1 P2] P3] P4].
  destruct (in_map_fits ct v SOL CIRC _ P1) as [S0 S1], (in_map_fits ct v SOL CIRC _ P2) as [K0 _]. fold m in S1.
  assert (IN : forall r, In r (placed_claims q a) -> In r (window_claims m d q)) by (intros r J; unfold window_claims; apply in_or_app; left; apply in_flat_map; eauto).
  pose proof (use _ (IN _ (or_introl eq_refl))) as H1. cbn [given goal forallb] in H1. rewrite F in H1. specialize (H1 eq_refl).
  pose proof (use _ (IN _ (or_intror (or_introl eq_refl)))) as H2. cbn [given goal forallb] in H2. rewrite H1 in H2. specialize (H2 eq_refl).
  unfold T, in_code in H1, H2. cbn [truth value] in H1, H2. apply Z.leb_le in H1. apply Z.eqb_eq in H2.
  set (r := term_of a) in *. set (k := v (code r) + up_by q a) in *. assert (K : 0 <= k) by (unfold k; lia). pose proof (pow2_pos k K) as PK.
  split; [|split; [exact S0|]].
  - rewrite H2. split; [nia|]. unfold placed_bound. fold r. assert (2 ^ k <= 2 ^ (code_span a + up_by q a)) by (apply Z.pow_le_mono_r; unfold k; lia). nia.
  - unfold V. assert (LS : lsb (num_in v r) = k + window_low q) by (unfold lsb, num_in, k, up_by; cbn [exp frac]; fold r; lia). rewrite LS, Flocq.Core.Raux.bpow_plus, <- Rmult_assoc. f_equal.
    rewrite bp_Z by exact K. rewrite <- mult_IZR. f_equal. rewrite H2. unfold with_sign, signed, num_in. cbn [neg sig]. destruct (v (sign r) =? 1); ring.
Qed.

Lemma window_tree_is t : Forall (fun a => T (finite (term_of a)) = true) terms ->
  (forall r, In r (window_tree_claims m q t) -> In r (window_claims m d q)) -> (forall i, In i (places t) -> (i < length terms)%nat) ->
  sg (width_in m (tree_node t)) (v (tree_node t)) =
    zsum (map (fun i => let a := nth i terms nothing_placed in with_sign (v (sign (term_of a)) =? 1) (v (in_window a))) (places t)) /\
  - window_bound m q t <= sg (width_in m (tree_node t)) (v (tree_node t)) <= window_bound m q t.
Proof.
  intros FIN. rewrite Forall_forall in FIN. induction t as [n i|n l IHl r IHr]; intros Q P.
  - assert (A : In (nth i terms nothing_placed) terms) by (apply nth_In, P; now left). set (a := nth i terms nothing_placed) in *.
    pose proof (use _ (Q _ (or_introl eq_refl)) eq_refl) as H. fold terms in H. fold a in H. unfold T in H. cbn [goal truth value] in H. apply Z.eqb_eq in H.
    cbn [tree_node places map zsum fold_right window_bound]. fold terms. fold a. destruct (placed_is a A (FIN a A)) as [B _]. rewrite H. unfold with_sign.
    destruct (v (sign (term_of a)) =? 1); lia.
  - destruct IHl as [SL BL]. { intros s I. apply Q. cbn [window_tree_claims]. right. apply in_or_app. now left. } { intros i I. apply P. cbn [places]. apply in_or_app. now left. }
    destruct IHr as [SR BR]. { intros s I. apply Q. cbn [window_tree_claims]. right. apply in_or_app. now right. } { intros i I. apply P. cbn [places]. apply in_or_app. now right. }
    assert (H : T (Equal (Sg n) (Plus (Sg (tree_node l)) (Sg (tree_node r)))) = true).
    { apply (use (Claim [in_bound m q l; in_bound m q r] (Equal (Sg n) (Plus (Sg (tree_node l)) (Sg (tree_node r)))))). apply Q. now left.
      cbn [given forallb]. unfold T, in_bound. rewrite !(proj2 (truth_within m v _ _)) by (cbn [value]; assumption). reflexivity. }
    unfold T in H. cbn [truth value] in H. apply Z.eqb_eq in H. cbn [tree_node places window_bound]. rewrite H, map_app, zsum_app, SL, SR. rewrite <- SL, <- SR at 2 3. split; auto. lia.
Qed.

Let n1 := sg (width_in m (tree_node (window_sum q))) (v (tree_node (window_sum q))).
Let ts := map (fun a => num_in v (term_of a)) terms.

Lemma window_total_is : Forall (fun a => T (finite (term_of a)) = true) terms ->
  (IZR n1 * bp (window_low q) = exact_sum ts)%R /\ T (in_bound m q (window_sum q)) = true.
Proof.
  intros FIN. destruct window_parts as [_ [_ [_ [P _]]]].
  destruct (window_tree_is (window_sum q) FIN) as [S B].
  { intros r I. unfold window_claims. apply in_or_app. right. apply in_or_app. now left. }
  { intros i I. apply (Permutation_in _ P) in I. apply in_seq in I. lia. }
  fold n1 in S, B. split; [|unfold T, in_bound; rewrite (proj2 (truth_within m v _ _)); auto].
  assert (E : n1 = zsum (map (fun a => with_sign (v (sign (term_of a)) =? 1) (v (in_window a))) terms)).
  { rewrite S. rewrite (zsum_perm _ _ (Permutation_map _ P)). f_equal. clear. generalize nothing_placed. intros z. generalize terms. intros l.
    assert (X : forall k (g : placed -> Z), map (fun i => g (nth (i - k) l z)) (seq k (length l)) = map g l).
    { induction l as [|a l IH]; intros k g; simpl; auto. rewrite Nat.sub_diag. f_equal. rewrite <- (IH (S k) g). apply map_ext_in. intros i I. apply in_seq in I.
      replace (i - k)%nat with (S (i - S k)) by lia. reflexivity. }
    rewrite <- (X 0%nat). apply map_ext. intros i. now rewrite Nat.sub_0_r. }
  rewrite E, zsum_Rsum. unfold exact_sum, ts. rewrite !map_map. f_equal. apply map_ext_in. intros a I. rewrite Forall_forall in FIN. now apply placed_is; auto.
Qed.

(** The number that the terms' sum is. *)
Lemma window_value : Forall (fun a => T (finite (term_of a)) = true) terms ->
  T (finite Y) = true /\ V (num_in v Y) = exact_sum ts.
Proof.
  intros FIN. destruct (window_total_is FIN) as [W B]. destruct window_parts as [_ [_ [_ [_ [LW _]]]]].
  assert (IN : forall r, In r (window_value_claims m q) -> In r (window_claims m d q)).
  { intros r I. unfold window_claims. apply in_or_app. right. apply in_or_app. right. apply in_or_app. now left. }
  assert (G : forall k r, nth_error (window_value_claims m q) k = Some r -> forallb T (given r) = true -> T (goal r) = true) by (intros k r N; apply use, IN; exact (nth_error_In _ _ N)).
  pose proof (G 0%nat _ eq_refl eq_refl) as Y0. pose proof (G 3%nat _ eq_refl eq_refl) as Y3. cbn [goal] in Y0, Y3. fold Y in Y0, Y3.
  assert (BB : forallb T [in_bound m q (window_sum q)] = true) by (cbn [forallb]; now rewrite B).
  pose proof (G 1%nat _ eq_refl BB) as Y1. pose proof (G 2%nat _ eq_refl BB) as Y2. cbn [goal] in Y1, Y2. fold Y in Y1, Y2. clear G.
  unfold T in Y1, Y2, Y3. rewrite truth_iff in Y1. apply eqb_prop in Y1. unfold window_total in Y1, Y2. cbn [truth value] in Y1, Y2, Y3. apply Z.eqb_eq in Y2, Y3. fold m in Y1, Y2. fold n1 in Y1, Y2.
  split; [exact Y0|]. rewrite <- W. unfold V, signed, lsb, num_in. cbn [neg sig exp frac]. rewrite Y1, Y2, Y3. replace (0 + low Y - bits_below Y) with (window_low q) by lia. f_equal. f_equal.
  destruct (Z.ltb_spec n1 0); cbn [orb]; [lia|]. destruct (Z.eqb_spec n1 0) as [->|N]; cbn [andb]; [now destruct (truth _ _ _)|lia].
Qed.

Lemma window_finite : Forall (fun a => T (finite (term_of a)) = true) terms -> T (finite C) = true ->
  exists s n u, sum_numbers d (ts ++ [num_in v C]) = convert c s n u /\ finished ct c (window_ending q) (window_round d q) v s n u.
Proof.
  intros FIN FC. destruct (window_value FIN) as [YF YV]. destruct (window_total_is FIN) as [_ IB].
  destruct window_parts as [FB [_ [NE [_ [_ [O2 [OE [SC [N2 [NE2 [PF [ly [lc [NL [LY LC]]]]]]]]]]]]]]].
  pose proof CL as CL'. unfold window_claims, window_pairs in CL'. rewrite NL in CL'. cbn [combine] in CL'. rewrite !Forall_app in CL'. destruct CL' as [_ [_ [_ [[L1 L2] [F2 [KC OC]]]]]].
  unfold front_claims in F2. rewrite Forall_app in F2. destruct F2 as [F2 S2_].
  assert (G1 : forallb T [in_bound m q (window_sum q)] = true) by (cbn [forallb]; now rewrite IB).
  assert (G2 : forallb T [finite (its (window_c q))] = true) by (cbn [forallb]; fold C; now rewrite FC).
  assert (ICL : forall l, In l (numbers_of (window_pair q)) -> in_circuit m (significand l) = true).
  { intros l I. pose proof OK as OK'. unfold window_ok in OK'. rewrite !andb_true_iff in OK'. destruct OK' as [[[[_ I'] _] _] _]. rewrite forallb_forall in I'. apply I'.
    right. rewrite in_app_iff. left. unfold numbers_of in I. apply in_map_iff in I. destruct I as [a [<- A]]. unfold front_nodes. do 2 right. apply in_flat_map. exists a. split; auto. now left. }
  rewrite NL in ICL.
  assert (LN : forall f g o l, lead_ok m f (o, l) = true -> in_circuit m (significand l) = true -> Forall (holds ct) (lead_claims_when g (o, l)) ->
    forallb T g = true -> alike (num_in v (its o)) (num_in v l) /\ is_normal (num_in v l) /\ frac (num_in v l) + 2 <= f) by (intros f g [r z s] l; exact (lead_number ct v SOL CIRC f g r z s l)).
  destruct (LN (window_bits q) _ _ ly LY (ICL ly (or_introl eq_refl)) L1 G1) as [A1 [M1 B1]].
  destruct (LN (window_bits q) _ _ lc LC (ICL lc (or_intror (or_introl eq_refl))) L2 G2) as [A2 [M2 B2]].
  fold Y in A1. fold C in A2.
  set (de := {| fraction_bits := None; alignment := alignment d; zero_exponent := zero_exponent d; carry_bits := None; normalise := normalise d; out := out d |}).
  destruct (exact_two de e (window_bits q) eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl ltac:(cbn; unfold ending_ok in OE; rewrite !andb_true_iff, !Z.leb_le in OE; tauto) PF (num_in v ly) (num_in v lc) M1 M2 B1 B2) as [X1 [X2 X3]].
  assert (FL : Forall (fun r => T (finite r) = true) (numbers_of (window_pair q))).
  { rewrite NL. unfold lead_ok in LY, LC. cbn [its] in LY, LC. rewrite !andb_true_iff, !Pos.eqb_eq in LY, LC. destruct LY as [[[[[_ Ya] Yb] _] _] _], LC as [[[[[_ Ca] Cb] _] _] _].
    constructor; [|constructor; [|constructor]]; unfold T, finite; cbn [truth]; [rewrite <- Ya, <- Yb; exact YF|rewrite <- Ca, <- Cb; exact FC]. }
  assert (CX2 : forall a, In a (addends (window_pair q)) -> T (finite (of a)) = true -> forallb T (known_of [(window_number q, ly); (window_c q, lc)] (of a)) = true).
  { intros a A _. cbn [known_of]. destruct (number_eqb ly (of a)); [exact (lead_known ct v SOL _ _ ly L1 G1)|]. destruct (number_eqb lc (of a)); [exact (lead_known ct v SOL _ _ lc L2 G2)|reflexivity]. }
  pose proof (n_is ct _ e (window_bits q) (window_pair q) v O2 F2 S2_ SOL N2 CX2 FL) as [_ NB].
  pose proof (known_is ct _ e (window_bits q) (window_pair q) v O2 F2 S2_ SOL N2 CX2 FL) as K2.
  pose proof (total_is ct _ e (window_bits q) (window_pair q) v O2 F2 S2_ SOL N2 CX2 FL) as TO2.
  destruct (sum_is ct _ e (window_bits q) (window_pair q) v O2 F2 S2_ SOL N2 CX2 FL) as [s2 [S2 SM]].
  rewrite NL in TO2, S2, SM. cbn [map] in TO2, S2, SM. rewrite TO2 in X2, X3. rewrite SM in X1.
  set (n2 := sg (width_in (widths_of ct) (total_node (window_pair q))) (v (total_node (window_pair q)))) in *. set (u2 := v (top (window_pair q)) + top_low (window_pair q) - window_bits q) in *.
  set (all := ts ++ [num_in v C]). set (N := total d all). set (W := unit_of d all).
  assert (NV : (IZR N * bp W = exact_sum ts + V (num_in v C))%R).
  { unfold N, W. rewrite (exact_total d all FB). unfold exact_sum, all. rewrite map_app, Rsum_app. cbn [map Rsum fold_right]. ring. }
  assert (XD : (IZR (total de [num_in v ly; num_in v lc]) * bp (unit_of de [num_in v ly; num_in v lc]) = IZR N * bp W)%R).
  { rewrite (exact_total de) by reflexivity. unfold exact_sum. cbn. rewrite NV, <- YV. destruct A1 as [_ A1], A2 as [_ A2]. rewrite A1, A2. ring. }
  pose proof (scaled_zero _ _ _ _ XD) as NZ. pose proof (scaled_neg _ _ _ _ XD) as NN. rewrite X2 in NZ. rewrite X3 in NN.
  assert (SI : Forall (fun x => 0 <= sig x) all).
  { unfold all. apply Forall_app. split; [|constructor; [apply SC|constructor]]. unfold ts. apply Forall_forall. intros x I. apply in_map_iff in I. destruct I as [a [<- I]]. rewrite Forall_forall in FIN. now apply placed_is; auto. }
  assert (NA : all <> []) by (unfold all; destruct ts; easy).
  exists (sign_of (rho c) N all (counts d all)), n2, u2. split.
  - unfold sum_numbers. fold N W c.
    apply (same_conversion c (total de [num_in v ly; num_in v lc]) (unit_of de [num_in v ly; num_in v lc])); auto.
    + intros Nz. rewrite <- (sum_nonzero de) by (intros Q; rewrite Q in X2; symmetry in X2; now apply Z.eqb_eq in X2). rewrite X1. f_equal. rewrite S2. now apply sign_nonzero.
    + intros Nz. rewrite sign_nonzero; [now rewrite <- NN|]. intros Q. rewrite Q in NZ. apply Nz. now apply Z.eqb_eq in NZ.
  - assert (CT : counted ct (window_round d q) v n2 u2).
    { constructor; cbn [window_round size no_size Finish.down Finish.unit fused_sum]; try reflexivity. cbn [value unit_term]. unfold u2. lia. }
    assert (AB : Z.abs n2 <= bound (window_round d q)) by (cbn [window_round bound fused_sum]; fold n2 in NB; lia).
    pose proof (kept_is ct c (window_ending q) (window_round d q) v OE KC SOL NE2 _ _ CT AB K2) as KF.
    constructor; auto.
    + unfold T. cbn [window_round sum_sign]. unfold window_sign. cbn [truth]. unfold n_zero, n_term. cbn [truth value]. fold m. change (sg (width_in m (total_node (window_pair q))) (v (total_node (window_pair q)))) with n2.
      assert (SG : map (truth m v) (map (fun r => Is (sign r)) (window_operands q)) = map neg all).
      { unfold window_operands, all, ts. rewrite !map_map, !map_app, !map_map. reflexivity. }
      assert (XI : forall A (f : A -> bool) l, existsb f l = existsb (fun b => b) (map f l)) by (clear; induction l; cbn; congruence).
      assert (FI : forall A (f : A -> bool) l, forallb f l = forallb (fun b => b) (map f l)) by (clear; induction l; cbn; congruence).
      assert (EX : truth m v (any_of (map (fun r => Is (sign r)) (window_operands q))) = existsb neg all) by (now rewrite truth_any, XI, SG, <- XI).
      assert (FA : truth m v (all_of (map (fun r => Is (sign r)) (window_operands q))) = forallb neg all) by (now rewrite truth_all, FI, SG, <- FI).
      destruct (Z.eqb_spec n2 0) as [Q|Q]; cbn [negb andb orb].
      * assert (N0 : N = 0) by (apply Z.eqb_eq; rewrite <- NZ; reflexivity). rewrite N0. unfold c. rewrite (exact_zero_sign d all FB NA SI N0). destruct (rho (out d)); auto.
      * rewrite orb_false_r, NN. symmetry. apply sign_nonzero. intros E. rewrite E in NZ. now symmetry in NZ.
    + intros TI Nz R. exact (tiny_direct ct c (window_ending q) (window_round d q) v OE KC SOL NE2 _ _ CT AB K2 TI Nz R).
Qed.

Lemma window_end : Forall (holds ct) (outcome_claims c (window_ending q) (window_round d q)).
Proof. unfold window_claims in CL. rewrite !Forall_app in CL. tauto. Qed.

Lemma window_all : Forall (fun r => T (finite r) = true) (window_operands q) -> exists s n u, sum_numbers d (map (num_in v) (window_operands q)) = convert c s n u /\
  finished ct c (window_ending q) (window_round d q) v s n u.
Proof.
  intros F. unfold window_operands in F. rewrite Forall_app in F. destruct F as [F1 F2]. apply Forall_inv in F2. rewrite Forall_map in F1.
  unfold window_operands. rewrite map_app, map_map. exact (window_finite F1 F2).
Qed.

Theorem window_sound : same_val (sum_values d (map (val_in v) (window_operands q))) (val_in v (outcome (window_ending q))).
Proof.
  destruct window_parts as [_ [_ [_ [_ [_ [_ [OE _]]]]]]].
  pose proof (special_or_sum ct v SOL c (window_ending q) (window_round d q) (window_operands q) (sum_numbers d (map (num_in v) (window_operands q))) OE window_end eq_refl window_all) as S.
  destruct (numbers_or_none ct v (window_operands q)) as [N|F].
  - unfold sum_values. unfold on_numbers in S. rewrite N in *. exact S.
  - unfold sum_values. unfold on_numbers in S. rewrite (numbers_all ct v _ F) in *. exact S.
Qed.

Lemma window_usual : (v (nan (outcome (window_ending q))) =? 1) = false -> (v (inf (outcome (window_ending q))) =? 1) = false ->
  forallb T (usual c (window_ending q) (window_round d q)) = true.
Proof.
  intros N I. destruct (inf_not_num ct c (window_ending q) (window_round d q) v window_end SOL N I) as [A B].
  destruct (special_values m v d (window_operands q)) as [_ [_ FI]]. destruct (FI A B) as [F _].
  destruct (window_all F) as [s [n [u [_ FN]]]]. exact (usual_is ct c (window_ending q) (window_round d q) v s n u A B FN).
Qed.
End Sound.
