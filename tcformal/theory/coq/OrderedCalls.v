(** Compositions of calls whose parts' sums are made in any order, each sum exact and then rounded, or truncated. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Mirror Losses Accumulated Trees Summations Exact Orders Paths Growth FromZero Calls.
Import ListNotations.
Open Scope R_scope.

(** All blocks of a call are full, and products have leading bits where sums cut them. *)
Definition full_calls (d : design) (m : nat) (w : words) : Prop :=
  (length (all_blocks d w) <= S m)%nat /\ Forall (fun b => length b = block d) (all_blocks d w) /\
  (cuts d = true -> Forall (leading_element d) (concat (all_blocks d w))).

(** c is added by a sum that has every bit of the parts' sums. *)
Definition ordered_calls_ok (d : design) (floor : Z) : bool :=
  order_ok d floor && parts_ok d && composition_ok d &&
  match composed d with Some how => (c_bits d <=? p (out (addition how)))%Z | None => false end.

Section Calls.
Variables (d : design) (floor tiny_unit k kc h k1 kc1 h1 k0 : Z) (m : nat).
Let u := bp tiny_unit.
Hypothesis (O : ordered_calls_ok d floor = true) (L1 : first_losses d floor tiny_unit = Some (k1, kc1, h1))
  (L : later_losses d floor tiny_unit = Some (k, kc, h)) (K10 : (k1 <= k0)%Z) (En : enough k0 (k, kc, h) = true)
  (P0 : forallb (Z.leb 0) [kc; k0; h; h1] = true).

Lemma calls_parts : order_ok d floor = true /\ parts_ok d = true /\ composition_ok d = true /\ (0 < block d)%nat /\
  exists how, composed d = Some how /\ exact_node (addition how) = true /\ (c_bits d <= p (out (addition how)))%Z.
Proof.
  unfold ordered_calls_ok in O. repeat rewrite andb_true_iff in O. destruct O as [[[O1 O2] O3] O4]. repeat (split; [assumption|]). split; [apply (order_parts d floor O1)|].
  pose proof O3 as Q. unfold composition_ok in Q. destruct (composed d) as [how|]; [|easy]. repeat rewrite andb_true_iff in Q. exists how. split; [reflexivity|]. split; [apply Q|]. now apply Z.leb_le.
Qed.

Lemma calls_in_order w : full_calls d m w -> Forall (in_order d) (all_blocks d w).
Proof.
  intros [_ [Fu Le]]. destruct calls_parts as [_ [Po [_ [Bn [how [Co _]]]]]]. apply Forall_forall. intros b Hb. rewrite Forall_forall in Fu. split; [now apply Fu|]. split.
  - pose proof (all_blocks_made d w Bn Po) as A. rewrite Forall_forall in A. now apply A.
  - intros Cu. specialize (Le Cu). rewrite Forall_forall in *. intros e He. apply Le. apply in_concat. eauto.
Qed.

Lemma ready_in_turn bs : forall x z, Forall (in_order d) bs -> c_ready d floor x -> in_turn d bs (Num x) = Num z -> c_ready d floor z.
Proof.
  destruct calls_parts as [Oo _]. induction bs as [|b r IH]; intros x z F Cx R; [cbn in R; now injection R as <-|].
  apply Forall_cons_iff in F. destruct F as [Fb Fr]. unfold in_turn in R. cbn [fold_left] in R. fold (in_turn d r (block_value d (Num x) b)) in R.
  destruct (is_num (block_value d (Num x) b)) eqn:Nb.
  - destruct (block_value d (Num x) b) as [y| |] eqn:Ey; try discriminate. apply (IH y z Fr); auto.
    exact (proj1 (step_of d floor tiny_unit Oo k kc h L b x y Fb Cx Ey)).
  - exfalso. pose proof (stays_in_turn d (in_order d) (fun v b Hb Nv => not_num_block d floor Oo b v Hb Nv) r _ Fr Nb) as Q. rewrite R in Q. discriminate Q.
Qed.

Let C := (1 + fixed k0) * (1 + fixed kc) ^ m - 1.
Let J := (1 + fixed kc) ^ m * (fixed h1 * u) + fixed h * u * geometric (fixed kc) m.

Lemma losses_pos : 0 <= fixed kc /\ 0 <= fixed k0 /\ 0 <= fixed h * u /\ 0 <= fixed h1 * u /\ 0 <= C /\ 0 <= J.
Proof.
  cbn [forallb] in P0. repeat rewrite andb_true_iff in P0. destruct P0 as [P1 [P2 [P3 [P4 _]]]]. apply Z.leb_le in P1, P2, P3, P4.
  apply fix_nonneg in P1, P2, P3, P4. pose proof (bpow_ge_0 radix2 tiny_unit) as U. fold u in U. pose proof (pow_ge_1 (fixed kc) m P1). pose proof (geometric_pos (fixed kc) m P1).
  assert (0 <= fixed h * u) by (now apply Rmult_le_pos). assert (0 <= fixed h1 * u) by (now apply Rmult_le_pos).
  repeat (split; [assumption|]). split; [unfold C; nra|]. unfold J. apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra.
Qed.

Lemma parts_sum w x r : full_calls d m w -> decode (d_format d) 0 = Num x -> is_zero x = true -> in_turn d (all_blocks d w) (Num x) = Num r ->
  Rabs (V r - Rsum (map (exact_value d) (concat (all_blocks d w)))) <= C * Rsum (map (fun e => Rabs (exact_value d e)) (concat (all_blocks d w))) + J /\
  short_number (c_bits d) (V r).
Proof.
  intros Fu D Zx R. destruct losses_pos as [Kc [K0 [H0 [H1 _]]]]. pose proof (calls_in_order w Fu) as F. destruct calls_parts as [Oo [_ [_ [_ [how [Co _]]]]]].
  assert (St : start_format d = d_format d) by (unfold start_format; now rewrite Co).
  assert (P1 : forall i, (i <= m)%nat -> (1 + fixed kc) ^ i <= (1 + fixed kc) ^ m) by (intros i Hi; apply Rle_pow; [lra|exact Hi]).
  pose proof (pow_ge_1 (fixed kc) m Kc) as Pm. pose proof (geometric_pos (fixed kc) m Kc) as Gm.
  assert (Fx : flush (c_rule d) (Num x) = Num x) by (unfold flush, is_subnormal; now rewrite Zx).
  assert (Cx : c_ready d floor x) by (apply (start_ready d floor Oo 0 x); [now rewrite St|exact Fx]).
  split; [|apply (ready_in_turn _ x r F Cx R)].
  destruct (all_blocks d w) as [|b bs] eqn:Eb.
  { cbn in R. injection R as <-. cbn. rewrite (V_zero x Zx), Rminus_0_r, Rabs_R0. unfold C, J.
    assert (0 <= (1 + fixed kc) ^ m * (fixed h1 * u)) by (apply Rmult_le_pos; lra). assert (0 <= fixed h * u * geometric (fixed kc) m) by (apply Rmult_le_pos; lra). lra. }
  assert (Lm : (length bs <= m)%nat) by (destruct Fu as [Lm _]; rewrite Eb in Lm; cbn [length] in Lm; lia).
  pose proof (order_error_from_zero d floor tiny_unit Oo (b :: bs) 0 x r k kc h k1 kc1 h1 k0 F ltac:(now rewrite St) (V_zero x Zx) L1 L K10 En R ltac:(discriminate)) as G.
  cbv zeta in G. cbn [length Nat.pred] in G. eapply Rle_trans; [exact G|]. fold u.
  assert (A0 : 0 <= Rsum (map (fun e => Rabs (exact_value d e)) (concat (b :: bs)))) by (apply Rsum_nonneg; intros; apply Rabs_pos).
  assert (Gi : geometric (fixed kc) (length bs) <= geometric (fixed kc) m).
  { clear -Lm Kc. induction Lm; [lra|]. cbn [geometric]. assert (0 <= (1 + fixed kc) ^ m) by (apply pow_le; lra). lra. }
  specialize (P1 _ Lm). unfold C, J. apply Rplus_le_compat; [apply Rmult_le_compat_r; auto; nra|]. apply Rplus_le_compat; [apply Rmult_le_compat_r; auto|apply Rmult_le_compat_l; auto].
Qed.

(** For all words, any c and m + 1 blocks: C of the parts' sum, and |d - exact| <= ((1 + C) (1 + u) - 1) (|c| + Σ|terms|). *)
Theorem ordered_error_of_call w z x : full_calls d m w -> decode (c_format d) (c_word w) = Num x -> value d w = Num z ->
  Rabs (V z - (V x + Rsum (map (exact_value d) (concat (all_blocks d w))))) <=
    ((1 + C) * (1 + last_share d) - 1) * (Rabs (V x) + Rsum (map (fun e => Rabs (exact_value d e)) (concat (all_blocks d w)))) +
    ((1 + last_share d) * J + last_loss d).
Proof.
  intros Fu Dc Vz. destruct calls_parts as [_ [_ [Oc _]]]. destruct losses_pos as [_ [_ [_ [_ [C0 J0]]]]].
  apply (error_of_call d (exact_value d) (full_calls d m) (fun r => short_number (c_bits d) (V r)) C J Oc C0); auto.
  intros w' x' r Fw D Zx R. now apply parts_sum with x'.
Qed.

(** Of n + 1 calls, the first from c = 0: ((1 + C) (1 + u)^n - 1) Σ|terms|. *)
Theorem ordered_error_of_calls l z x : V x = 0 -> Forall (full_calls d m) l -> calls d l (Num x) = Num z ->
  let n := Nat.pred (length l) in
  Rabs (V z - Rsum (map (fun w => Rsum (map (exact_value d) (concat (all_blocks d w)))) l)) <=
    ((1 + C) * (1 + last_share d) ^ n - 1) * Rsum (map (fun w => Rsum (map (fun e => Rabs (exact_value d e)) (concat (all_blocks d w)))) l) +
    ((1 + last_share d) ^ n * (J + last_loss d) + ((1 + last_share d) * J + last_loss d) * geometric (last_share d) n).
Proof.
  intros X F E n. destruct calls_parts as [_ [_ [Oc [_ [how [Co [Ex Cb]]]]]]]. destruct losses_pos as [_ [_ [_ [_ [C0 J0]]]]].
  apply (error_of_calls d (exact_value d) (full_calls d m) (fun r => short_number (c_bits d) (V r)) C J (last_loss d) Oc C0 J0) with x; auto.
  - intros w' x' r Fw D Zx R. now apply parts_sum with x'.
  - apply last_pos.
  - intros how' r y v Co' Sr Y Sn. rewrite Co in Co'. injection Co' as <-. rewrite (exact_node_value _ _ _ Ex Sn). unfold exact_sum. cbn [map Rsum fold_right].
    rewrite Y, !Rplus_0_r. unfold last_loss. rewrite Co. apply short_loss.
    + unfold exact_node, monotone_conv in Ex. destruct (fraction_bits (addition how)), (carry_bits (addition how)); try easy. apply andb_prop in Ex. lia.
    + unfold short_number in Sr. eapply generic_inclusion_mag; [|exact Sr]. intros _. unfold FLX_exp. lia.
Qed.
End Calls.
