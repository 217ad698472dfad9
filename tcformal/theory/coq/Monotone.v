(** Trees of sums that are exact and then rounded are monotone in every term. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core Round_odd.
From TC Require Import Spec Rounding Order Error Carry Negation Chains Integers.
Import ListNotations.
Open Scope R_scope.

(** ** Sums that are exact and then rounded are monotone in every term *)

(** Rounding with results that become zeros: those below 2^emin, and where the conversion says so those that are
    below it when they are rounded as if exponents had no end. *)
Definition flx_rnd c := round radix2 (FLX_exp (p c + 1)) (rnd (rho c)).
Definition vanishes c x := Rlt_bool (Rabs (flt_rnd c x)) (bp (emin c)) || tiny c && Rlt_bool (Rabs (flx_rnd c x)) (bp (emin c)).
Definition flushed_rnd c x := if flushes c && vanishes c x then 0 else flt_rnd c x.

Lemma is_tiny_ok c n u : (0 <= p c)%Z -> n <> 0%Z ->
  is_tiny c n u = Rlt_bool (Rabs (flx_rnd c (IZR n * bp u))) (bp (emin c)).
Proof.
  intros P N. unfold is_tiny. set (ex := (Z.log2 (Z.abs n) + u - p c)%Z). set (r := round_div (rho c) n (ex - u)).
  assert (C : cexp radix2 (FLX_exp (p c + 1)) (IZR n * bp u) = ex).
  { unfold cexp, FLX_exp. rewrite log2_mag by easy. unfold ex. lia. }
  assert (Q : flx_rnd c (IZR n * bp u) = IZR r * bp ex).
  { unfold flx_rnd, round, F2R, scaled_mantissa; simpl. rewrite C. unfold r. rewrite round_div_ok.
    do 3 f_equal. rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia. }
  assert (X : IZR n * bp u <> 0).
  { apply Rmult_integral_contrapositive_currified; [now apply IZR_neq|]. pose proof (bpow_gt_0 radix2 u). lra. }
  assert (R0 : r <> 0%Z).
  { intros R0. assert (G : Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia).
    apply (round_neq_0_negligible_exp radix2 (FLX_exp (p c + 1))) with (rnd := rnd (rho c)) in X;
      auto with typeclass_instances.
    - apply X. fold (flx_rnd c (IZR n * bp u)). rewrite Q, R0. lra.
    - apply negligible_exp_FLX. auto. }
  pose proof (log2_mag r ex R0) as M. rewrite Q.
  destruct (Z.ltb_spec (Z.log2 (Z.abs r) + ex) (emin c)) as [L|L]; symmetry.
  - apply Rlt_bool_true. apply Rlt_le_trans with (bp (mag radix2 (IZR r * bp ex))); [apply bpow_mag_gt|].
    apply bpow_le. rewrite M. lia.
  - apply Rlt_bool_false. apply Rle_trans with (bp (mag radix2 (IZR r * bp ex) - 1)).
    + apply bpow_le. rewrite M. lia.
    + apply bpow_mag_le. apply Rmult_integral_contrapositive_currified; [now apply IZR_neq|].
      pose proof (bpow_gt_0 radix2 ex). lra.
Qed.

Definition monotone_conv (c : conversion) : bool :=
  always_infinite c && (0 <=? p c)%Z.

Lemma convert_num_flushed c s n u z : monotone_conv c = true -> convert c s n u = Num z ->
  V z = flushed_rnd c (IZR n * bp u).
Proof.
  intros P H. unfold flushed_rnd. rewrite <- round_ok. cbv zeta. unfold convert in H.
  set (r := round_div _ _ _) in *. set (ex := last_bit c n u) in *.
  destruct (Z.eqb_spec r 0) as [R|R]; simpl in H.
  - injection H as <-. rewrite R, Rmult_0_l. destruct (_ && vanishes _ _); unfold V, signed; simpl; destruct (_ && s); simpl; lra.
  - destruct (round_div_log2 c n u R) as [B1 B2]. fold ex in B1, B2. fold r in B1, B2.
    assert (Q : IZR r * bp ex = flt_rnd c (IZR n * bp u)) by apply round_ok. rewrite Q.
    assert (N : n <> 0%Z) by (intros ->; apply R; unfold r; apply round_div_0).
    assert (P0 : (0 <= p c)%Z) by (unfold monotone_conv in P; apply andb_prop in P; lia).
    rewrite is_tiny_ok in H by easy.
    assert (W : ((Z.log2 (Z.abs r) + ex <? emin c)%Z || tiny c && Rlt_bool (Rabs (flx_rnd c (IZR n * bp u))) (bp (emin c)))
                = vanishes c (IZR n * bp u)).
    { unfold vanishes. f_equal. destruct (Z.ltb_spec (Z.log2 (Z.abs r) + ex) (emin c)) as [L|L]; symmetry.
      - apply Rlt_bool_true. eapply Rlt_le_trans; [exact B2|]. apply bpow_le. lia.
      - apply Rlt_bool_false. eapply Rle_trans; [|exact B1]. apply bpow_le. lia. }
    rewrite W in H. destruct (flushes c && vanishes c (IZR n * bp u)).
    + injection H as <-. unfold V, signed; simpl; destruct (_ && s); simpl; lra.
    + destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + ex)) as [O|O].
      * exfalso. unfold monotone_conv in P. apply andb_prop in P. destruct P as [P _].
        unfold is_infinite, always_infinite in *. destruct (overflow c), (rho c); easy.
      * rewrite <- Q. injection H as <-. unfold V, signed, lsb; simpl.
        replace (if (r <? 0)%Z then (- Z.abs r)%Z else Z.abs r) with r by (destruct (Z.ltb_spec r 0); lia).
        do 2 f_equal. lia.
Qed.

Lemma flushed_rnd_le c x y : (0 <= p c)%Z -> x <= y -> flushed_rnd c x <= flushed_rnd c y.
Proof.
  intros P H. assert (G : Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia).
  assert (T : forall a b, a <= b -> flt_rnd c a <= flt_rnd c b).
  { intros a b h. unfold flt_rnd, flt. apply round_le; auto with typeclass_instances. }
  assert (X : forall a b, a <= b -> flx_rnd c a <= flx_rnd c b).
  { intros a b h. unfold flx_rnd. apply round_le; auto with typeclass_instances. }
  assert (T0 : flt_rnd c 0 = 0) by (unfold flt_rnd; apply round_0; auto with typeclass_instances).
  assert (X0 : flx_rnd c 0 = 0) by (unfold flx_rnd; apply round_0; auto with typeclass_instances).
  pose proof (T x y H) as Txy. pose proof (X x y H) as Xxy. pose proof (bpow_gt_0 radix2 (emin c)) as E.
  assert (S : forall a, Rabs (flt_rnd c a) < bp (emin c) \/ (0 <= a /\ bp (emin c) <= flt_rnd c a) \/ (a <= 0 /\ flt_rnd c a <= - bp (emin c))).
  { intros a. destruct (Rlt_le_dec (Rabs (flt_rnd c a)) (bp (emin c))) as [h|h]; auto. right.
    destruct (Rle_dec 0 a) as [h0|h0]; [left|right]; (split; [lra|]).
    - pose proof (T 0 a h0). rewrite Rabs_pos_eq in h; lra.
    - assert (h1 : a <= 0) by lra. pose proof (T a 0 h1). rewrite Rabs_left1 in h; lra. }
  unfold flushed_rnd, vanishes. destruct (flushes c); simpl; auto.
  destruct (Rlt_bool_spec (Rabs (flt_rnd c x)) (bp (emin c))) as [h|h],
    (Rlt_bool_spec (Rabs (flt_rnd c y)) (bp (emin c))) as [h'|h']; simpl; try lra.
  - destruct (tiny c && _); [lra|]. apply Rabs_def2 in h.
    destruct (S y) as [Sy|[Sy|Sy]]; lra.
  - destruct (tiny c && _); [lra|]. apply Rabs_def2 in h'.
    destruct (S x) as [Sx|[Sx|Sx]]; lra.
  - destruct (tiny c); simpl; [|lra].
    destruct (S x) as [Sx|[[x0 Sx]|[x0 Sx]]]; [lra| |]; (destruct (S y) as [Sy|[[y0 Sy]|[y0 Sy]]]; [lra| |]).
    + pose proof (X 0 x x0). pose proof (X 0 y y0). rewrite X0 in *. rewrite !Rabs_pos_eq by lra.
      destruct (Rlt_bool_spec (flx_rnd c x) (bp (emin c))), (Rlt_bool_spec (flx_rnd c y) (bp (emin c))); lra.
    + lra.
    + destruct (Rlt_bool _ _), (Rlt_bool _ _); lra.
    + pose proof (X x 0 x0). pose proof (X y 0 y0). rewrite X0 in *. rewrite !Rabs_left1 by lra.
      destruct (Rlt_bool_spec (- flx_rnd c x) (bp (emin c))), (Rlt_bool_spec (- flx_rnd c y) (bp (emin c))); lra.
Qed.

Definition exact_node (d : sum) : bool :=
  match fraction_bits d, carry_bits d with None, None => monotone_conv (out d) | _, _ => false end.

Lemma exact_node_value d ts z : exact_node d = true -> sum_numbers d ts = Num z -> V z = flushed_rnd (out d) (exact_sum ts).
Proof.
  unfold exact_node. destruct (fraction_bits d) eqn:F; [easy|]. destruct (carry_bits d) eqn:K; [easy|]. intros M H.
  unfold sum_numbers in H. apply convert_num_flushed in H; auto. rewrite H. f_equal.
  unfold total. rewrite K. apply lossless_total. apply Forall_forall. intros x Hx _.
  unfold unit_of. rewrite F. now apply least_lsb_le.
Qed.

Lemma exact_sum_le ts us : Forall2 (fun x y => V x <= V y) ts us -> exact_sum ts <= exact_sum us.
Proof. unfold exact_sum. induction 1; simpl; lra. Qed.

Fixpoint tree_ind' (P : tree -> Prop) (HT : forall v, P (Term v)) (HN : forall d l, Forall P l -> P (Node d l)) (t : tree) : P t :=
  match t with
  | Term v => HT v
  | Node d l => HN d l ((fix aux l : Forall P l :=
      match l with [] => Forall_nil P | x :: r => Forall_cons x (tree_ind' P HT HN x) (aux r) end) l)
  end.

(** One tree with other terms, none of which is smaller. *)
Inductive tree_le : tree -> tree -> Prop :=
| le_term x y : V x <= V y -> tree_le (Term (Num x)) (Term (Num y))
| le_node d l l' : exact_node d = true -> Forall2 tree_le l l' -> tree_le (Node d l) (Node d l').

(** A tree of sums that are exact and then rounded gives no less where no term is less. *)
Theorem monotone t : forall t' z z', tree_le t t' -> eval t = Num z -> eval t' = Num z' -> V z <= V z'.
Proof.
  induction t as [v|d l IH] using tree_ind'; intros t' z z' L E E'; inversion L; subst.
  - simpl in *. now injection E as <-; injection E' as <-.
  - rename H1 into H2. rename H3 into H4.
    simpl in E, E'. destruct (sum_values_inv _ _ _ E) as [ts Q]. destruct (sum_values_inv _ _ _ E') as [us Q'].
    rewrite Q, sum_values_num in E. rewrite Q', sum_values_num in E'.
    rewrite (exact_node_value _ _ _ H2 E), (exact_node_value _ _ _ H2 E'). apply flushed_rnd_le.
    + unfold exact_node, monotone_conv in H2. destruct (fraction_bits d), (carry_bits d); try easy. apply andb_prop in H2. lia.
    + apply exact_sum_le. clear E E' L H2. revert l' ts us H4 Q Q'.
      induction IH as [|a l Ha IH IHl]; intros l' ts us F Q Q'; inversion F; subst; destruct ts, us; try easy.
      simpl in Q, Q'. injection Q as Qa Q. injection Q' as Qa' Q'. constructor; [eapply Ha; eauto|eapply IHl; eauto].
Qed.
