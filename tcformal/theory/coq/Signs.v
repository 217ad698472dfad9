(** Signs of zeros that are not seen, because no sum but zero is rounded to zero. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes.
Import ListNotations.
Open Scope Z_scope.

Definition multiple (g : Z) (x : num) : Prop := exists k, V x = (IZR k * bp g)%R.

Lemma fix_multiple m u k : fix_rnd m u (IZR k * bp u) = (IZR k * bp u)%R.
Proof.
  unfold fix_rnd. apply round_generic; auto with typeclass_instances. apply generic_format_FIX. now exists (Defs.Float radix2 k u).
Qed.

Lemma scaled_multiple k u g : g <= u -> exists j, (IZR k * bp u = IZR j * bp g)%R.
Proof.
  intros L. exists (k * 2 ^ (u - g)). rewrite mult_IZR, <- bp_Z by lia. rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
Qed.

Lemma total_multiple s g ts : carry_bits s = None -> g <= unit_of s ts \/ Forall (multiple g) ts \/ forallb is_zero ts = true ->
  exists k, (IZR (total s ts) * bp (unit_of s ts) = IZR k * bp g)%R.
Proof.
  intros K H. unfold total. rewrite K. set (u := unit_of s ts) in *. destruct (Z_le_gt_dec g u) as [L|L]; [now apply scaled_multiple|].
  destruct H as [H|[H|H]]; [lia| |].
  - unfold counts. fold u. clearbody u. induction H as [|x r [k Hx] H IH]; cbn [map]; [exists 0; cbn; ring|].
    destruct IH as [j Hj]. exists (k + j). change (zsum (?a :: ?l)) with (a + zsum l). rewrite plus_IZR, Rmult_plus_distr_r, Hj, cut_ok, Hx.
    destruct (scaled_multiple k g u) as [i Hi]; [lia|]. rewrite Hi at 1. rewrite fix_multiple, <- Hi, plus_IZR. ring.
  - unfold counts. rewrite zeros_count by auto. exists 0. rewrite zsum_zeros. ring.
Qed.

Lemma round_one m : round_div m 1 0 = 1 /\ round_div m (-1) 0 = -1.
Proof. split; reflexivity. Qed.

Lemma round_big m k j : k <> 0 -> 0 <= j <= Z.log2 (Z.abs k) -> round_div m k j <> 0.
Proof.
  intros N L. assert (G : 2 ^ j <= Z.abs k) by (eapply Z.le_trans; [apply Z.pow_le_mono_r; [lia|apply L]|apply Z.log2_spec; lia]).
  assert (P : (0 < bp (- j))%R) by apply bpow_gt_0.
  assert (O : (bp j * bp (- j) = 1)%R) by (rewrite <- bpow_plus; replace (j + - j) with 0 by lia; reflexivity).
  destruct (Z_lt_le_dec 0 k) as [K|K].
  - assert (H : round_div m 1 0 <= round_div m k j).
    { apply round_div_le. change (bp (- 0)) with 1%R. assert (bp j <= IZR k)%R by (rewrite bp_Z by lia; apply IZR_le; lia). nra. }
    destruct (round_one m) as [R1 _]. rewrite R1 in H. lia.
  - assert (H : round_div m k j <= round_div m (-1) 0).
    { apply round_div_le. change (bp (- 0)) with 1%R. assert (IZR k <= - bp j)%R by (rewrite bp_Z, <- opp_IZR by lia; apply IZR_le; lia). nra. }
    destruct (round_one m) as [_ R1]. rewrite R1 in H. lia.
Qed.

Lemma never_zero c n u k : 0 <= p c -> (IZR n * bp u = IZR k * bp (emin c - p c))%R -> n <> 0 ->
  round_div (rho c) n (last_bit c n u - u) <> 0.
Proof.
  intros P H N. pose proof (scaled_zero _ _ _ _ H) as H0. assert (K : k <> 0) by (destruct (Z.eqb_spec n 0), (Z.eqb_spec k 0); congruence).
  set (g := emin c - p c) in *.
  assert (E : last_bit c n u = last_bit c k g) by now rewrite !last_bit_ok, H by easy.
  assert (D : round_div (rho c) n (last_bit c n u - u) = round_div (rho c) k (last_bit c k g - g)).
  { rewrite !round_div_ok, E. f_equal.
    replace (- (last_bit c k g - u)) with (u + - last_bit c k g) by lia.
    replace (- (last_bit c k g - g)) with (g + - last_bit c k g) by lia.
    rewrite !bpow_plus, <- !Rmult_assoc. now rewrite H. }
  rewrite D. clear D E H H0 N n u. unfold last_bit. destruct (Z.eqb_spec k 0); [easy|].
  apply round_big; auto. pose proof (Z.log2_nonneg (Z.abs k)). unfold g. lia.
Qed.

Lemma convert_multiple c s n u z : 0 <= p c -> emin c <= emax c -> convert c s n u = Num z -> multiple (emin c - p c) z.
Proof.
  intros P M H. destruct (convert_shape _ _ _ _ _ P M H) as [X S]. unfold multiple, V, lsb.
  destruct S as [[F _]|[F G]].
  - rewrite F. apply scaled_multiple. lia.
  - rewrite F. assert (Q : exists i, (IZR (signed z) * bp (exp z - (p c + 1)) = IZR i * bp (exp z - p c))%R).
    { exists (if neg z then - 2 ^ p c else 2 ^ p c). unfold signed. rewrite G.
      replace (exp z - p c) with (1 + (exp z - (p c + 1))) by lia. rewrite (bpow_plus radix2 1). change (bp 1) with 2%R.
      assert (T : (IZR (2 ^ (p c + 1)) = IZR (2 ^ p c) * 2)%R) by (rewrite Z.pow_add_r, mult_IZR by lia; reflexivity).
      destruct (neg z); rewrite ?opp_IZR, T; ring. }
    destruct Q as [i Hi]. rewrite Hi. apply scaled_multiple. lia.
Qed.

Lemma has_multiple t g x : has t x -> g <= low t - bits t -> multiple g x.
Proof. intros [_ [B L]] G. unfold multiple, V, lsb. apply scaled_multiple. lia. Qed.
