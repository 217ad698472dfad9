(** Sums of integers are exact as long as they are small enough. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core Round_odd.
From TC Require Import Spec Rounding Order Error Carry Negation Chains.
Import ListNotations.
Open Scope R_scope.

(** ** What a conversion gives, and when it gives a number *)

Lemma flt_rnd_bound c x e : (0 <= p c)%Z -> (emin c - p c <= e)%Z -> Rabs x <= bp e -> Rabs (flt_rnd c x) <= bp e.
Proof.
  intros P H X. assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia).
  apply abs_round_le_generic; auto with typeclass_instances.
  apply generic_format_FLT_bpow; auto.
Qed.

Lemma round_div_log2 c n u : let r := round_div (rho c) n (last_bit c n u - u) in (r <> 0)%Z ->
  bp (Z.log2 (Z.abs r) + last_bit c n u) <= Rabs (flt_rnd c (IZR n * bp u)) < bp (Z.log2 (Z.abs r) + last_bit c n u + 1).
Proof.
  intros r N. rewrite <- round_ok. cbv zeta. fold r. now apply count_log2.
Qed.

(** What rounds to less than 2^(emax+1) is converted to a number. *)
Theorem convert_finite c s n u :
  plain c = true -> Rabs (flt_rnd c (IZR n * bp u)) < bp (emax c + 1) -> exists z, convert c s n u = Num z.
Proof.
  intros P B. pose proof (plain_flushes _ P) as F. unfold convert. rewrite F. simpl. rewrite orb_false_r.
  set (r := round_div _ _ _). destruct (Z.eqb_spec r 0) as [R|R]; [eauto|].
  destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + last_bit c n u)) as [O|O]; [|eauto].
  exfalso. destruct (round_div_log2 c n u R) as [H _]. fold r in H.
  assert (bp (emax c + 1) <= bp (Z.log2 (Z.abs r) + last_bit c n u)) by (apply bpow_le; lia). lra.
Qed.

(** A result other than zero has the exponent of its leading bit, or the least one. *)
Theorem convert_exponent c s n u z :
  plain c = true -> convert c s n u = Num z ->
  (emin c <= exp z)%Z /\ (is_zero z = false -> exp z = emin c \/ bp (exp z) <= Rabs (V z)).
Proof.
  intros P H. pose proof (convert_num _ _ _ _ _ P H) as C. pose proof (plain_flushes _ P) as F.
  unfold convert in H. rewrite F in H. simpl in H. rewrite orb_false_r in H.
  set (r := round_div _ _ _) in *. destruct (Z.eqb_spec r 0) as [R|R].
  - injection H as <-. simpl. split; [lia|]. easy.
  - destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + last_bit c n u)) as [O|O].
    + exfalso. unfold plain in P. rewrite F in P. simpl in P. apply andb_prop in P. destruct P as [P _].
      unfold is_infinite, always_infinite in *. destruct (overflow c), (rho c); easy.
    + destruct (round_div_log2 c n u R) as [B _]. fold r in B. rewrite <- C in B. injection H as <-.
      simpl exp in *. split; [lia|]. intros _.
      destruct (Z.max_spec (Z.log2 (Z.abs r) + last_bit c n u) (emin c)) as [[_ Q]|[_ Q]]; rewrite Q in *; auto.
Qed.

(** ** Sums of integers *)

Definition integer (x : R) : Prop := exists k, x = IZR k.
Definition magnitude (ts : list num) : R := Rsum (map (fun x => Rabs (V x)) ts).

(** Zero, or with a leading bit that the exponent names. *)
Definition normal (x : num) : Prop := is_zero x = false -> bp (exp x) <= Rabs (V x).

Lemma Rsum_nonneg {A} (g : A -> R) l : (forall x, 0 <= g x) -> 0 <= Rsum (map g l).
Proof. intros H. induction l; simpl; [lra|]. specialize (H a). lra. Qed.

Lemma magnitude_in ts x : In x ts -> Rabs (V x) <= magnitude ts.
Proof.
  unfold magnitude. intros H. apply in_split in H. destruct H as [a [b ->]]. rewrite map_app, Rsum_app. simpl.
  pose proof (Rsum_nonneg (fun x => Rabs (V x)) a (fun x => Rabs_pos _)).
  pose proof (Rsum_nonneg (fun x => Rabs (V x)) b (fun x => Rabs_pos _)). lra.
Qed.

Lemma magnitude_two ts x y : In x ts -> In y ts -> x = y \/ Rabs (V x) + Rabs (V y) <= magnitude ts.
Proof.
  intros Hx Hy. apply in_split in Hx. destruct Hx as [a [b ->]]. unfold magnitude. rewrite map_app, Rsum_app. simpl.
  pose proof (Rsum_nonneg (fun x => Rabs (V x)) a (fun x => Rabs_pos _)).
  pose proof (Rsum_nonneg (fun x => Rabs (V x)) b (fun x => Rabs_pos _)).
  rewrite in_app_iff in Hy. destruct Hy as [Hy|[Hy|Hy]]; auto; right.
  - pose proof (magnitude_in a y Hy). unfold magnitude in *. lra.
  - pose proof (magnitude_in b y Hy). unfold magnitude in *. lra.
Qed.

Lemma exact_sum_abs ts : Rabs (exact_sum ts) <= magnitude ts.
Proof.
  unfold exact_sum, magnitude. induction ts; simpl. rewrite Rabs_R0; lra.
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma integer_sum ts : Forall (fun x => integer (V x)) ts -> integer (exact_sum ts).
Proof.
  unfold exact_sum. induction 1 as [|x l [k Hk] H [m Hm]]; simpl. now exists 0%Z.
  exists (k + m)%Z. now rewrite plus_IZR, Hk, Hm.
Qed.

Lemma integer_fix u x : (u <= 0)%Z -> integer x -> generic_format radix2 (FIX_exp u) x.
Proof.
  intros U [k ->]. apply generic_format_FIX. exists (Float radix2 (k * 2 ^ (- u)) u); [|reflexivity].
  unfold F2R; simpl. rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia.
  replace (- u + u)%Z with 0%Z by lia. simpl. ring.
Qed.

Lemma integer_flt c x : (0 <= p c)%Z -> (emin c <= p c)%Z -> integer x -> Rabs x <= bp (p c + 1) ->
  generic_format radix2 (flt c) x.
Proof.
  intros P M [k ->] H. assert (G : Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). unfold flt.
  rewrite bp_Z, <- abs_IZR in H by lia. apply le_IZR in H.
  destruct (Z.eq_dec (Z.abs k) (2 ^ (p c + 1))) as [E|E].
  - assert (k = 2 ^ (p c + 1) \/ k = - 2 ^ (p c + 1))%Z as [->| ->] by lia.
    + rewrite <- bp_Z by lia. apply generic_format_FLT_bpow; auto. lia.
    + rewrite opp_IZR, <- bp_Z by lia. apply generic_format_opp. apply generic_format_FLT_bpow; auto. lia.
  - apply generic_format_FLT. exists (Float radix2 k 0); simpl; [|lia|lia].
    unfold F2R; simpl. ring.
Qed.

Lemma largest_attained d ts e : largest d ts = Some e -> exists x, In x ts /\ term_exponent d x = Some e.
Proof.
  unfold largest. revert e. induction ts as [|a ts IH]; simpl; intros e H; [easy|].
  destruct (term_exponent d a) as [ea|] eqn:Ea, (fold_right omax None (map (term_exponent d) ts)) as [er|] eqn:Er; simpl in H; try easy.
  - destruct (Z.max_spec ea er) as [[_ M]|[_ M]]; rewrite M in H.
    + destruct (IH er eq_refl) as [x [? ?]]. exists x. split; auto. congruence.
    + exists a. split; auto. congruence.
  - exists a. split; auto. congruence.
  - destruct (IH er eq_refl) as [x [? ?]]. exists x. split; auto. congruence.
Qed.

(** The side condition on a design. *)
Definition integers_ok (d : sum) (B : Z) : bool :=
  plain (out d) && negb (normalise d) && (0 <=? B)%Z && (B <=? p (out d) + 1)%Z && (emin (out d) <=? 0)%Z && (p (out d) <? emax (out d))%Z &&
  match carry_bits d with None => true | _ => false end &&
  match fraction_bits d with
  | None => true
  | Some f => (0 <=? f)%Z && (B <=? f + 1)%Z && match zero_exponent d with ZeroNone => true | ZeroOwn => false | ZeroAt z => (z <=? f)%Z end
  end.

Lemma integers_exact d B ts :
  integers_ok d B = true -> Forall (fun x => integer (V x)) ts -> Forall normal ts -> magnitude ts <= bp B ->
  IZR (zsum (counts d ts)) * bp (unit_of d ts) = exact_sum ts.
Proof.
  intros O I N M. unfold integers_ok in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[P Nn] B0] Bp] Em] Ex] K] O].
  rewrite counts_ok. apply Rsum_ext. intros x Hx. unfold unit_of in *. destruct (fraction_bits d) as [f|].
  2: { apply fix_rnd_exact. intros _. now apply least_lsb_le. }
  repeat rewrite andb_true_iff in O. destruct O as [[F0 Bf] Zr].
  assert (Ix : integer (V x)) by (rewrite Forall_forall in I; auto).
  destruct (largest d ts) as [e|] eqn:L; unfold fix_rnd.
  2: { apply round_generic; auto with typeclass_instances. apply integer_fix; auto. lia. }
  destruct (Z_le_gt_dec e f) as [Hef|Hef].
  { apply round_generic; auto with typeclass_instances. apply integer_fix; auto. lia. }
  destruct (largest_attained d ts e L) as [y [Hy Ey]].
  unfold term_exponent in Ey. apply negb_true_iff in Nn. rewrite Nn in Ey. destruct (is_zero y) eqn:Zy.
  { exfalso. destruct (zero_exponent d); try easy. injection Ey as <-. lia. }
  injection Ey as Ey. assert (Ny : bp e <= Rabs (V y)). { rewrite <- Ey. rewrite Forall_forall in N. now apply N. }
  pose proof (magnitude_in ts y Hy) as My.
  assert (E1 : (e <= f + 1)%Z). { apply Z.le_trans with B; [|lia]. apply (le_bpow radix2). lra. }
  assert (EB : e = B). { assert (e <= B)%Z by (apply (le_bpow radix2); lra). lia. }
  rewrite EB in Ny. clear Ey.
  assert (D : V x = 0 \/ Rabs (V x) = bp B).
  { destruct (magnitude_two ts x y Hx Hy) as [->|T]; [right; apply Rle_antisym; [eapply Rle_trans; eassumption|exact Ny]|]. left.
    assert (Rabs (V x) = 0) by (pose proof (Rabs_pos (V x)); lra).
    destruct (Req_dec (V x) 0); auto. now apply Rabs_no_R0 in H0. }
  destruct D as [-> |D]; [apply round_0; auto with typeclass_instances|].
  apply round_generic; auto with typeclass_instances. apply generic_format_abs_inv. rewrite D.
  apply generic_format_bpow. unfold FIX_exp. lia.
Qed.

(** One sum of integers whose magnitudes add up to 2^B at most is exact. *)
Theorem integer_block d B ts :
  integers_ok d B = true -> Forall (fun x => integer (V x)) ts -> Forall normal ts -> magnitude ts <= bp B ->
  exists z, sum_numbers d ts = Num z /\ V z = exact_sum ts /\ normal z.
Proof.
  intros O I N M. pose proof (integers_exact d B ts O I N M) as E. unfold integers_ok in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[P Nn] B0] Bp] Em] Ex] K] O]. pose proof (plain_p _ P) as Pp.
  assert (T : exact_total d ts) by (apply no_carry_exact; now destruct (carry_bits d)).
  assert (Ab : Rabs (exact_sum ts) <= bp B) by (pose proof (exact_sum_abs ts); lra).
  assert (G : flt_rnd (out d) (exact_sum ts) = exact_sum ts).
  { assert (Prec_gt_0 (p (out d) + 1)) by (unfold Prec_gt_0; lia). unfold flt_rnd, flt.
    apply round_generic; auto with typeclass_instances. apply integer_flt; auto using integer_sum. lia.
    eapply Rle_trans; [exact Ab|]. apply bpow_le. lia. }
  unfold sum_numbers. rewrite T. set (s := sign_of _ _ _ _).
  destruct (convert_finite (out d) s (zsum (counts d ts)) (unit_of d ts) P) as [z Hz].
  { rewrite E, G. eapply Rle_lt_trans; [exact Ab|]. apply bpow_lt. lia. }
  exists z. split; auto. pose proof (convert_num _ _ _ _ _ P Hz) as C. rewrite E, G in C. split; auto.
  intros Zz. destruct (convert_exponent _ _ _ _ _ P Hz) as [_ H]. destruct (H Zz) as [H1|H1]; auto.
  rewrite H1. apply Rle_trans with 1.
  - change 1 with (bp 0). apply bpow_le. lia.
  - destruct (integer_sum ts I) as [k Hk]. rewrite C, Hk, <- abs_IZR. apply IZR_le.
    assert (k <> 0)%Z; [|lia]. intros ->. unfold is_zero in Zz. apply Z.eqb_neq in Zz. apply Zz.
    rewrite Hk in C. unfold V, signed in C. pose proof (bpow_gt_0 radix2 (lsb z)). apply eq_IZR.
    destruct (neg z); [rewrite opp_IZR in C|]; nra.
Qed.

Lemma magnitude_app a b : magnitude (a ++ b) = magnitude a + magnitude b.
Proof. unfold magnitude. now rewrite map_app, Rsum_app. Qed.
