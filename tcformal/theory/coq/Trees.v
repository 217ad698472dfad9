(** Sums that are exact and then rounded, in any order: FMA chains, pairwise sums, trees, c first or last, rounded products.
    The error of a result with k roundings on its longest path is at most (1 + u)^k - 1 times the magnitudes, and sums of
    integers are exact. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Mirror Losses Accumulated.
Import ListNotations.
Open Scope R_scope.

(** * Values made of exact sums, each rounded *)

(** A part of a sum: its roundings, the exact sum of the numbers that it is made of and of their magnitudes, its value. *)
Record part := { roundings : nat; exact : R; size : R; got : val }.

(** [made F G Q k n S A v]: v has k roundings at most on every path and n in all, from numbers that G holds of and that add up
    to S, their magnitudes to A; Q holds of its conversions; without F some may be no numbers. *)
Inductive made (F : bool) (G : R -> Prop) (Q : conversion -> Prop) : nat -> nat -> R -> R -> val -> Prop :=
| made_number x : G (V x) -> made F G Q 0 0 (V x) (Rabs (V x)) (Num x)
| made_nothing x : V x = 0 -> made F G Q 0 0 0 0 (Num x)
| made_other S A v : F = false -> is_num v = false -> made F G Q 0 0 S A v
| made_more k n S A v : made F G Q k n S A v -> made F G Q (1 + k) n S A v
| made_round c x : Q c -> monotone_conv c = true -> G (V x) -> made F G Q 1 1 (V x) (Rabs (V x)) (round_num (Floating c) x)
| made_sum s k (q : list part) : Q (out s) -> exact_node s = true ->
    Forall (fun x => made F G Q k (roundings x) (exact x) (size x) (got x)) q ->
    made F G Q (1 + k) (1 + fold_right Nat.add O (map roundings q)) (Rsum (map exact q)) (Rsum (map size q)) (add (Stage s) (map got q)).

Lemma made_deeper F G Q k n S A v : made F G Q k n S A v -> forall j, (k <= j)%nat -> made F G Q j n S A v.
Proof. intros M j H. induction H; auto. change (made F G Q (1 + m) n S A v). now constructor. Qed.

Lemma made_0 F G Q n S A z : made F G Q 0 n S A (Num z) -> n = O /\ S = V z /\ A = Rabs (V z) /\ (G (V z) \/ V z = 0).
Proof. intros M. inversion M; subst; auto; try easy.
  match goal with H : V z = 0 |- _ => rewrite H, Rabs_R0; auto end. Qed.

Lemma round_num_flushed c x z : monotone_conv c = true -> round_num (Floating c) x = Num z -> V z = flushed_rnd c (V x).
Proof. intros M H. unfold round_num, round_to in H. apply convert_num_flushed in H; auto. Qed.

Lemma pow_ge_1 k n : 0 <= k -> 1 <= (1 + k) ^ n.
Proof. intros K. induction n; cbn; [lra|]. nra. Qed.

Lemma Rsum_cons x l : Rsum (x :: l) = x + Rsum l.
Proof. reflexivity. Qed.

(** The error of a value with k roundings on a path, each of which loses u of its operand and h beside: the standard bound. *)
Theorem made_error F G u h : 0 <= u -> 0 <= h -> forall k n S A z,
  made F G (fun c => share c <= u /\ flush_loss c <= h) k n S A (Num z) ->
  Rabs S <= A /\ Rabs (V z - S) <= ((1 + u) ^ k - 1) * A + INR n * h * (1 + u) ^ k.
Proof.
  intros U Hh. induction k as [|k IH]; intros n S A z M.
  - destruct (made_0 _ _ _ _ _ _ _ M) as [-> [-> [-> _]]]. split; [lra|]. cbn. rewrite Rminus_eq_0, Rabs_R0. lra.
  - pose proof (pow_ge_1 u k U) as P1. assert (W1 : 0 <= u * (1 + u) ^ k) by (apply Rmult_le_pos; lra). inversion M; subst.
    + match goal with H : made _ _ _ k _ _ _ _ |- _ => specialize (IH _ _ _ _ H) end. destruct IH as [I0 IH]. split; auto.
      eapply Rle_trans; [exact IH|]. cbn [pow].
      assert (H : 0 <= A) by (pose proof (Rabs_pos S); lra).
      assert (W0 : 0 <= INR n * h) by (apply Rmult_le_pos; auto; apply pos_INR).
      pose proof (Rmult_le_pos _ _ W1 H). pose proof (Rmult_le_pos _ _ W0 W1). lra.
    + match goal with H : convert _ _ _ _ = Num z |- _ => rename H into E; change (round_num (Floating c) x = Num z) in E end.
      match goal with H : monotone_conv _ = true |- _ => rename H into Mc end.
      match goal with H : share _ <= u /\ _ |- _ => destruct H as [S1 S2] end. pose proof (round_num_flushed _ _ _ Mc E) as Vz.
      split; [lra|].
      assert (P : (0 <= p c)%Z) by (unfold monotone_conv in Mc; apply andb_prop in Mc; lia).
      pose proof (flushed_loss c (V x) P) as L. rewrite Vz. pose proof (Rabs_pos (V x)). cbn [INR pow].
      assert (share c * Rabs (V x) <= u * Rabs (V x)) by (apply Rmult_le_compat_r; auto).
      pose proof (Rmult_le_pos _ _ U Hh). lra.
    + match goal with H : sum_values _ _ = Num z |- _ => rename H into E end.
      match goal with H : exact_node _ = true |- _ => rename H into X end.
      match goal with H : Forall _ q |- _ => rename H into Fq end.
      match goal with H : share _ <= u /\ _ |- _ => destruct H as [S1 S2] end. cbn [add] in E.
      destruct (sum_values_inv _ _ _ E) as [ts Et]. rewrite Et, sum_values_num in E.
      pose proof (exact_node_loss s ts z X E) as L.
      set (N := fold_right Nat.add O (map roundings q)). set (S := Rsum (map exact q)). set (A := Rsum (map size q)).
      (* the children *)
      assert (C : Rabs S <= A /\ Rabs (exact_sum ts - S) <= ((1 + u) ^ k - 1) * A + INR N * h * (1 + u) ^ k
                  /\ magnitude ts <= (1 + u) ^ k * A + INR N * h * (1 + u) ^ k).
      { unfold N, S, A. clear L E M N S A. revert ts Et. induction q as [|[n1 e1 a1 v1] q IHq]; intros ts Et; cbn in Et; destruct ts as [|t ts]; try easy;
          cbn [map fold_right roundings exact size].
        - unfold exact_sum, magnitude. cbn. rewrite Rminus_0_r, Rabs_R0. lra.
        - injection Et as Et1 Et2. apply Forall_cons_iff in Fq. destruct Fq as [Hq1 Hq2]. cbn in Hq1. rewrite Et1 in Hq1.
          destruct (IHq Hq2 ts Et2) as [I0 [I1 I2]]. destruct (IH n1 e1 a1 t Hq1) as [I4 I3].
          rewrite plus_INR. unfold exact_sum, magnitude in *. cbn [map]. rewrite !Rsum_cons.
          set (N2 := INR (fold_right Nat.add O (map roundings q))) in *. set (L2 := Rsum (map exact q)) in *. set (A2 := Rsum (map size q)) in *.
          split; [eapply Rle_trans; [apply Rabs_triang|]; lra|]. split.
          + replace (V t + Rsum (map V ts) - (e1 + L2)) with ((V t - e1) + (Rsum (map V ts) - L2)) by ring.
            eapply Rle_trans; [apply Rabs_triang|]. lra.
          + assert (Vt : Rabs (V t) <= Rabs e1 + Rabs (V t - e1)).
            { replace (V t) with (e1 + (V t - e1)) at 1 by ring. apply Rabs_triang. }
            lra. }
      destruct C as [C0 [C1 C2]]. split; auto.
      assert (N0 : 0 <= INR N) by apply pos_INR. assert (M0 : 0 <= magnitude ts) by (apply Rsum_nonneg; intros; apply Rabs_pos).
      change (1 + N)%nat with (Datatypes.S N). rewrite S_INR.
      replace (V z - S) with ((V z - exact_sum ts) + (exact_sum ts - S)) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. cbn [pow].
      assert (B1 : share (out s) * magnitude ts <= u * ((1 + u) ^ k * A + INR N * h * (1 + u) ^ k)).
      { apply Rle_trans with (u * magnitude ts); [apply Rmult_le_compat_r; auto|apply Rmult_le_compat_l; auto]. }
      assert (h * 1 <= h * ((1 + u) * (1 + u) ^ k)) by (apply Rmult_le_compat_l; auto; nra).
      nra.
Qed.

(** * Integers *)

(** Conversions that hold integers up to 2^B. *)
Definition holds_integers (B : Z) (c : conversion) : bool :=
  monotone_conv c && (0 <=? B)%Z && (B <=? p c + 1)%Z && (emin c <=? 0)%Z && (p c <? emax c)%Z.

Lemma convert_finite_flushed c s n u : monotone_conv c = true -> Rabs (flt_rnd c (IZR n * bp u)) < bp (emax c + 1) ->
  exists z, convert c s n u = Num z.
Proof.
  intros P B. unfold convert. set (r := round_div _ _ _). destruct (Z.eqb_spec r 0) as [R|R]; cbn [orb]; [eauto|].
  destruct (flushes c && _); [eauto|].
  destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + last_bit c n u)) as [O|O]; [|eauto].
  exfalso. destruct (round_div_log2 c n u R) as [H _]. fold r in H.
  assert (bp (emax c + 1) <= bp (Z.log2 (Z.abs r) + last_bit c n u)) by (apply bpow_le; lia). lra.
Qed.

Lemma integer_kept B c x : holds_integers B c = true -> integer x -> Rabs x <= bp B -> flushed_rnd c x = x /\ flt_rnd c x = x.
Proof.
  intros O I A. unfold holds_integers in O. repeat rewrite andb_true_iff in O. destruct O as [[[[Mc B0] Bp] Em] Ex].
  apply Z.leb_le in B0, Bp, Em. assert (P : (0 <= p c)%Z) by (unfold monotone_conv in Mc; apply andb_prop in Mc; lia).
  assert (G : flt_rnd c x = x).
  { assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). unfold flt_rnd, flt. apply round_generic; auto with typeclass_instances.
    apply integer_flt; auto. lia. eapply Rle_trans; [exact A|]. apply bpow_le. lia. }
  split; auto. unfold flushed_rnd. destruct (flushes c && vanishes c x) eqn:Va; auto. apply andb_prop in Va. destruct Va as [_ Va].
  destruct (Req_dec x 0) as [->|X]; auto. exfalso. destruct I as [k Hk].
  assert (K : 1 <= Rabs x).
  { rewrite Hk, <- abs_IZR. apply IZR_le. assert (k <> 0)%Z by (intros ->; now apply X). lia. }
  assert (E : bp (emin c) <= Rabs x) by (apply Rle_trans with 1; auto; change 1 with (bp 0); apply bpow_le; lia).
  unfold vanishes in Va. rewrite G in Va. apply orb_prop in Va. destruct Va as [Va|Va].
  - revert Va. now rewrite Rlt_bool_false.
  - apply andb_prop in Va. destruct Va as [_ Va]. revert Va. rewrite Rlt_bool_false; [easy|]. unfold flx_rnd.
    assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia).
    apply abs_round_ge_generic; auto with typeclass_instances. apply generic_format_bpow. unfold FLX_exp. lia.
Qed.

Lemma Rsum_nonneg_in {A} (g : A -> R) l : (forall x, In x l -> 0 <= g x) -> 0 <= Rsum (map g l).
Proof.
  intros H. induction l as [|a l IH]; cbn; [lra|]. pose proof (H a (or_introl eq_refl)).
  assert (0 <= Rsum (map g l)) by (apply IH; intros; apply H; now right). unfold Rsum in *. lra.
Qed.

Lemma Rsum_abs_le (l : list R) : Rabs (Rsum l) <= Rsum (map Rabs l).
Proof. induction l; cbn; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. unfold Rsum in *. lra. Qed.

Lemma made_size G Q : forall k n S A v, made true G Q k n S A v -> 0 <= A.
Proof.
  induction k as [|k IH]; intros n S A v M; inversion M; subst; try easy; try apply Rabs_pos; try lra.
  - eapply IH; eauto.
  - match goal with H : Forall _ q |- _ => rename H into Fq end.
    apply Rsum_nonneg_in. intros y Hy. rewrite Forall_forall in Fq. specialize (Fq y Hy). eapply IH; eauto.
Qed.

(** Integers whose magnitudes add up to 2^B at most are summed exactly, in any order. *)
Theorem made_integers B : forall k n S A v,
  made true integer (fun c => holds_integers B c = true) k n S A v -> A <= bp B ->
  exists z, v = Num z /\ V z = S /\ integer S /\ Rabs S <= A.
Proof.
  induction k as [|k IH]; intros n S A v M Ab.
  - inversion M; subst; try easy.
    + exists x. split; auto. split; auto. split; auto. lra.
    + exists x. split; auto. split; auto. split; [now exists 0%Z|]. rewrite Rabs_R0. lra.
  - inversion M; subst.
    + match goal with H : made _ _ _ k _ _ _ _ |- _ => apply (IH _ _ _ _ H Ab) end.
    + match goal with H : integer (V x) |- _ => rename H into Ix end.
      match goal with H : holds_integers B c = true |- _ => rename H into Hc end.
      destruct (integer_kept B c (V x) Hc Ix Ab) as [K1 K2].
      pose proof Hc as H0. unfold holds_integers in H0. repeat rewrite andb_true_iff in H0. destruct H0 as [[[[Mc B0] Bp] Em] Ex].
      destruct (convert_finite_flushed c (neg x) (signed x) (lsb x) Mc) as [z Hz].
      { fold (V x). rewrite K2. eapply Rle_lt_trans; [exact Ab|]. apply bpow_lt. lia. }
      exists z. split; [exact Hz|]. split; [|split; [exact Ix|lra]].
      rewrite (convert_num_flushed _ _ _ _ _ Mc Hz). fold (V x). exact K1.
    + match goal with H : exact_node _ = true |- _ => rename H into X end.
      match goal with H : Forall _ q |- _ => rename H into Fq end.
      match goal with H : holds_integers B _ = true |- _ => rename H into Hc end.
      assert (G : exists ts, map got q = map Num ts /\ exact_sum ts = Rsum (map exact q) /\ integer (Rsum (map exact q)) /\
                    Rabs (Rsum (map exact q)) <= Rsum (map size q)).
      { clear M.
        assert (Sz : forall x, In x q -> 0 <= size x).
        { intros x Hx. rewrite Forall_forall in Fq. eapply made_size; eauto. }
        induction q as [|[n1 e1 a1 v1] q IHq]; [exists []; cbn; repeat split; auto; [now exists 0%Z|rewrite Rabs_R0; lra]|].
        apply Forall_cons_iff in Fq. destruct Fq as [Hq1 Hq2]. cbn in Hq1. cbn [map exact size got] in *. rewrite Rsum_cons in Ab.
        pose proof (Sz _ (or_introl eq_refl)) as a0. cbn in a0.
        assert (b0 : 0 <= Rsum (map size q)) by (apply Rsum_nonneg_in; intros; apply Sz; now right).
        destruct IHq as [ts [T1 [T2 [[m Hm] T4]]]]; auto; [lra|intros; apply Sz; now right|].
        destruct (IH n1 e1 a1 v1 Hq1) as [z [-> [Vz [[i Hi] Az]]]]; [lra|].
        exists (z :: ts). cbn [map]. rewrite T1. split; auto. rewrite !Rsum_cons. split.
        - unfold exact_sum in *. cbn [map]. rewrite Rsum_cons, Vz, T2. reflexivity.
        - split; [exists (i + m)%Z; rewrite plus_IZR; lra|]. eapply Rle_trans; [apply Rabs_triang|]. lra. }
      destruct G as [ts [T1 [T2 [Int Ag]]]]. cbn [add]. rewrite T1, sum_values_num. unfold sum_numbers.
      assert (E : IZR (total s ts) * bp (unit_of s ts) = exact_sum ts).
      { unfold total. unfold exact_node in X. destruct (fraction_bits s) eqn:Fb; [easy|]. destruct (carry_bits s) eqn:Kb; [easy|].
        apply lossless_total. apply Forall_forall. intros x Hx _. unfold unit_of. rewrite Fb. now apply least_lsb_le. }
      assert (Ab' : Rabs (Rsum (map exact q)) <= bp B) by lra.
      destruct (integer_kept B (out s) (Rsum (map exact q)) Hc Int Ab') as [K1 K2].
      pose proof Hc as H0'. unfold holds_integers in H0'. repeat rewrite andb_true_iff in H0'. destruct H0' as [[[[Mc B0] Bp] Em] Ex].
      destruct (convert_finite_flushed (out s) (sign_of (rho (out s)) (total s ts) ts (counts s ts)) (total s ts) (unit_of s ts) Mc) as [z Hz].
      { rewrite E, T2, K2. eapply Rle_lt_trans; [exact Ab'|]. apply bpow_lt. lia. }
      exists z. split; [exact Hz|]. split; [|split; auto]. rewrite (convert_num_flushed _ _ _ _ _ Mc Hz), E, T2. exact K1.
Qed.
