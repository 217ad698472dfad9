(** What every order of sums loses, by computation: a factor of the magnitudes and what is lost beside subnormal results, along
    every path; sums of one number, zeros and short products lose nothing. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Mirror Losses Accumulated Trees Summations Exact Orders.
Import ListNotations.
Open Scope R_scope.

(** * Numbers in fixed point *)

(** Fraction bits of all factors. *)
Definition width : Z := 128.
Definition one : Z := (2 ^ width)%Z.
Definition fixed (x : Z) : R := IZR x * bp (- width).

(** [x / 2^k], rounded up. *)
Definition up (x k : Z) : Z := (- Z.shiftr (- x) k)%Z.

Lemma fix_one : fixed one = 1.
Proof. unfold fixed, one. rewrite <- bp_Z by (unfold width; lia). rewrite <- bpow_plus. reflexivity. Qed.

Lemma fix_power k : (0 <= k)%Z -> fixed (2 ^ k) = bp (k - width).
Proof. intros K. unfold fixed. rewrite <- bp_Z, <- bpow_plus by lia. f_equal. Qed.

Lemma fix_plus x y : fixed (x + y) = fixed x + fixed y.
Proof. unfold fixed. rewrite plus_IZR. ring. Qed.

Lemma fix_times x y : IZR x * fixed y = fixed (x * y).
Proof. unfold fixed. rewrite mult_IZR. ring. Qed.

Lemma fix_nonneg x : (0 <= x)%Z -> 0 <= fixed x.
Proof. intros H. unfold fixed. apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0]. Qed.

Lemma fix_le x y : (x <= y)%Z -> fixed x <= fixed y.
Proof. intros H. unfold fixed. apply Rmult_le_compat_r; [apply bpow_ge_0|now apply IZR_le]. Qed.

Lemma fix_up x y : fixed x * fixed y <= fixed (up (x * y) width).
Proof.
  unfold fixed, up. rewrite Z.shiftr_div_pow2 by (unfold width; lia). set (q := (- (x * y) / 2 ^ width)%Z).
  assert (Q : (x * y <= (- q) * 2 ^ width)%Z).
  { pose proof (Z.mul_div_le (- (x * y)) (2 ^ width) ltac:(unfold width; lia)) as M. fold q in M. lia. }
  apply IZR_le in Q. rewrite !mult_IZR, <- (bp_Z width) in Q by (unfold width; lia).
  assert (B : bp width * bp (- width) = 1) by (rewrite <- bpow_plus; reflexivity). pose proof (bpow_gt_0 radix2 (- width)) as B0.
  replace (IZR x * bp (- width) * (IZR y * bp (- width))) with (IZR x * IZR y * bp (- width) * bp (- width)) by ring.
  apply Rmult_le_compat_r; [lra|]. apply Rle_trans with (IZR (- q) * bp width * bp (- width)); [apply Rmult_le_compat_r; lra|].
  rewrite Rmult_assoc, B. lra.
Qed.

(** * What is known of a partial result *)

Record bound := {
  known : bool;              (** whether anything is *)
  nothing : bool;            (** a zero *)
  short : option Z;          (** it has at most so many bits after its leading one *)
  settles : option Z;        (** cut so many bits below its own exponent, or further below, it stays as it is; that exponent is that
                                 of its leading bit, or at most [floor] *)
  factor : Z;                (** the error is at most [factor - 1] of the products' magnitudes *)
  of_c : Z;                  (** and [of_c - 1] of that of c; 0: c is no part of it *)
  beside : Z                 (** and this many times 2^[tiny_unit] *)
}.

Definition unknown : bound := {| known := false; nothing := false; short := None; settles := None; factor := one; of_c := 0; beside := 0 |}.
Definition plus_zero_bound : bound := {| known := true; nothing := true; short := Some 0%Z; settles := Some 0%Z; factor := one; of_c := 0; beside := 0 |}.

(** The exact sum of the numbers that a partial result is made of, that of its products' magnitudes, and of c's, and its value. *)
Record partial_result := { sum_of_it : R; size_of_it : R; size_of_c : R; value_of_it : val }.

Definition short_number (q : Z) (x : R) : Prop := generic_format radix2 (FLX_exp (q + 1)) x.

Section Analysis.
Variables (floor tiny_unit : Z).

Definition near_share (c : conversion) : Z := if nearest (rho c) then 1 else 0.

(** What a sum of [n] numbers that are not zeros loses: of the magnitudes, and beside. *)
Definition stage_loss (s : sum) (n : Z) (leads : bool) : option (Z * Z) :=
  let c := out s in
  let low := (p c + near_share c)%Z in
  if exact_node s
  then let rest := Z.max 0 (width + (if flushes c then emin c else emin c - low) - tiny_unit)%Z in
       if (low <=? width)%Z then Some (2 ^ (width - low), 2 ^ rest)%Z else None
  else match fraction_bits s, zero_exponent s, carry_bits s with
       | Some f, ZeroNone, None =>
           let lost := Z.max (n - 1) 0 in
           let kept := if nearest (rho c) then lost else Z.max (lost - 1) 0 in
           let more := match alignment s with RZ => 0%Z | _ => lost end in
           let rest := (width + floor - low - f - tiny_unit)%Z in
           if leads && plain c && negb (normalise s) && (0 <=? f)%Z && (p c <=? f)%Z && (emin c <=? floor)%Z && (low + f <=? width)%Z && (0 <=? rest)%Z
           then Some (kept * 2 ^ (width - f) + 2 ^ (width - low) + more * 2 ^ (width - low - f),
                      kept * 2 ^ (rest + low) + 2 ^ (rest + f) + more * 2 ^ rest)%Z
           else None
       | _, _, _ => None
       end.

Definition fits_in (o : option Z) (q : Z) : bool := match o with Some x => (x <=? q)%Z | None => false end.

Definition live_ones (l : list bound) : list bound := filter (fun b => negb (nothing b)) l.

Definition after_sum (s : sum) (l : list bound) : bound :=
  let c := out s in
  let live := live_ones l in
  let leads := match fraction_bits s with Some f => forallb (fun b => fits_in (settles b) f) l | None => true end in
  match stage_loss s (Z.of_nat (length live)) leads with
  | Some (k, h) =>
      if forallb known l && (0 <=? p c)%Z && (emin c <=? emax c)%Z && (emin c <=? floor)%Z
      then
        let made f g b := {| known := true; nothing := false; short := Some (p c); settles := if plain c then Some (p c) else None;
                             factor := f; of_c := g; beside := b |} in
        let rounded := made (up (fold_right Z.max one (map factor live) * (one + k)) width)
                            (up (fold_right Z.max 0%Z (map of_c live) * (one + k)) width)
                            (up (fold_right Z.add 0 (map beside live) * (one + k)) width + h)%Z in
        match live with
        | [] => if exact_node s then plus_zero_bound else rounded
        | [x] => if fits_in (short x) (p c) then made (factor x) (of_c x) (beside x + h)%Z else rounded
        | _ => rounded
        end
      else unknown
  | None => unknown
  end.

Definition after_stage (s : stage) (l : list bound) : bound := match s with Stage d => after_sum d l | FixedStage _ _ => unknown end.

(** ** What that means *)

Let u := bp tiny_unit.

Definition related (x : partial_result) (b : bound) : Prop := known b = true ->
  (0 <= size_of_it x /\ 0 <= size_of_c x /\ Rabs (sum_of_it x) <= size_of_it x + size_of_c x) /\
  ((one <= factor b)%Z /\ ((one <= of_c b)%Z \/ of_c b = 0%Z /\ size_of_c x = 0)) /\ (0 <= beside b)%Z /\
  (nothing b = true -> sum_of_it x = 0 /\ (size_of_it x = 0 /\ size_of_c x = 0) /\ exists y, value_of_it x = Num y /\ V y = 0) /\
  forall z, value_of_it x = Num z ->
    (forall q, short b = Some q -> short_number q (V z)) /\
    (forall q f, settles b = Some q -> (q <= f)%Z -> settled f z /\ floored floor z) /\
    Rabs (V z - sum_of_it x) <= (fixed (factor b) - 1) * size_of_it x + (fixed (of_c b) - 1) * size_of_c x + fixed (beside b) * u.

Lemma u_pos : 0 < u.
Proof. apply bpow_gt_0. Qed.

Lemma V_nothing z : V z = 0 -> is_zero z = true.
Proof.
  intros H. unfold is_zero. apply Z.eqb_eq. unfold V, signed in H. pose proof (bpow_gt_0 radix2 (lsb z)).
  apply Rmult_integral in H. destruct H as [H|H]; [|lra]. apply eq_IZR in H. destruct (neg z); lia.
Qed.

(** The parts of a sum together. *)
Lemma parts_total F G l m ts : Forall2 related l m -> forallb known m = true -> map value_of_it l = map Num ts ->
  (one <= F)%Z -> (forall b, In b (live_ones m) -> (factor b <= F)%Z /\ (of_c b <= G)%Z) ->
  let S := Rsum (map sum_of_it l) in let A := Rsum (map size_of_it l) in let Ac := Rsum (map size_of_c l) in
  let B := fold_right Z.add 0%Z (map beside (live_ones m)) in
  Rabs (exact_sum ts - S) <= (fixed F - 1) * A + (fixed G - 1) * Ac + fixed B * u /\ magnitude ts <= fixed F * A + fixed G * Ac + fixed B * u.
Proof.
  intros H. revert ts. induction H as [|x b l m Hx H IH]; intros ts K E F1 Fm S A Ac B.
  - destruct ts; [|easy]. unfold S, A, Ac, B, exact_sum, magnitude. cbn. rewrite Rminus_0_r, Rabs_R0. assert (Z0 : fixed 0 = 0) by (unfold fixed; lra). rewrite Z0. lra.
  - destruct ts as [|t ts]; [easy|]. cbn [map] in E. injection E as E1 E2. cbn [forallb] in K. apply andb_prop in K. destruct K as [K1 K2].
    assert (Fm' : forall b, In b (live_ones m) -> (factor b <= F)%Z /\ (of_c b <= G)%Z).
    { intros c Hc. apply Fm. unfold live_ones in *. cbn [filter]. destruct (negb (nothing b)); auto. now right. }
    destruct (IH ts K2 E2 F1 Fm') as [I3 I4]. destruct (Hx K1) as [[P [Pc X1]] [[X2 X2'] [X3 [X4 X5]]]]. destruct (X5 t E1) as [_ [_ X6]].
    unfold S, A, Ac, B, exact_sum, magnitude in *. cbn [map]. rewrite !Rsum_cons. unfold live_ones in *. cbn [filter].
    set (B0 := fold_right Z.add 0%Z (map beside (filter (fun b => negb (nothing b)) m))) in *.
    set (A0 := Rsum (map size_of_it l)) in *. set (C0 := Rsum (map size_of_c l)) in *. set (S0 := Rsum (map sum_of_it l)) in *.
    assert (Q : Rabs (V t - sum_of_it x) <= (fixed F - 1) * size_of_it x + (fixed G - 1) * size_of_c x + fixed (if nothing b then 0 else beside b) * u /\
                Rabs (V t) <= fixed F * size_of_it x + fixed G * size_of_c x + fixed (if nothing b then 0 else beside b) * u).
    { destruct (nothing b) eqn:N.
      - destruct (X4 eq_refl) as [Y1 [[Y2 Y2'] [y [Y3 Y4]]]]. rewrite E1 in Y3. injection Y3 as <-. rewrite Y1, Y2, Y2', Y4.
        rewrite Rminus_0_r, Rabs_R0. assert (Z0 : fixed 0 = 0) by (unfold fixed; lra). rewrite Z0. lra.
      - assert (Fb : (factor b <= F)%Z /\ (of_c b <= G)%Z) by (apply Fm; cbn [filter]; rewrite N; now left). destruct Fb as [Fb Gb].
        pose proof (fix_le _ _ Fb) as Fb'. pose proof (fix_le _ _ Gb) as Gb'.
        assert (T : (fixed (factor b) - 1) * size_of_it x <= (fixed F - 1) * size_of_it x) by (apply Rmult_le_compat_r; lra).
        assert (T' : (fixed (of_c b) - 1) * size_of_c x <= (fixed G - 1) * size_of_c x) by (apply Rmult_le_compat_r; lra).
        split; [lra|]. replace (V t) with (sum_of_it x + (V t - sum_of_it x)) by ring.
        eapply Rle_trans; [apply Rabs_triang|]. lra. }
    destruct Q as [Q1 Q2].
    assert (Bs : fold_right Z.add 0%Z (map beside (if negb (nothing b) then b :: filter (fun b => negb (nothing b)) m else filter (fun b => negb (nothing b)) m)) =
      ((if nothing b then 0 else beside b) + B0)%Z) by (destruct (nothing b); reflexivity).
    rewrite Bs, fix_plus. set (b0 := (if nothing b then 0 else beside b)%Z) in *. split; [|lra].
    replace (V t + Rsum (map V ts) - (sum_of_it x + S0)) with ((V t - sum_of_it x) + (Rsum (map V ts) - S0)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(** Terms that are not zero and lose bits. *)
Lemma live_losses mo e l m ts : Forall2 related l m -> forallb known m = true -> map value_of_it l = map Num ts ->
  Rsum (map (loss mo e) ts) <= IZR (Z.of_nat (length (live_ones m))) * bp e /\
  forall t, In t ts -> is_zero t = false -> loss mo e t = 0 -> Rsum (map (loss mo e) ts) <= IZR (Z.of_nat (length (live_ones m)) - 1) * bp e.
Proof.
  intros H. revert ts. pose proof (bpow_gt_0 radix2 e) as B0. induction H as [|x b l m Hx H IH]; intros ts K E.
  - destruct ts; [|easy]. cbn. split; [lra|easy].
  - destruct ts as [|t ts]; [easy|]. cbn [map] in E. injection E as E1 E2. cbn [forallb] in K. apply andb_prop in K. destruct K as [K1 K2].
    destruct (IH ts K2 E2) as [I1 I2]. cbn [map]. rewrite Rsum_cons. unfold live_ones in *. cbn [filter]. destruct (nothing b) eqn:N; cbn [negb].
    + destruct (Hx K1) as [_ [_ [_ [X4 _]]]]. destruct (X4 N) as [_ [_ [y [Y3 Y4]]]]. rewrite E1 in Y3. injection Y3 as <-.
      assert (L0 : loss mo e t = 0).
      { unfold loss. rewrite Y4. unfold fix_rnd. rewrite round_0, Rminus_0_r, Rabs_R0 by auto with typeclass_instances. reflexivity. }
      rewrite L0, Rplus_0_l. split; auto. intros t' [->|I] Zt Lt; [now rewrite V_nothing in Zt|]. eapply I2; eauto.
    + cbn [length]. rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite plus_IZR.
      assert (L1 : loss mo e t <= bp e) by (unfold loss; pose proof (fix_rnd_err mo e (V t)); lra). split; [lra|].
      intros t' [->|I] Zt Lt.
      * rewrite Lt. replace (Z.of_nat (length (filter (fun b => negb (nothing b)) m)) + 1 - 1)%Z with (Z.of_nat (length (filter (fun b => negb (nothing b)) m))) by lia. lra.
      * specialize (I2 t' I Zt Lt). rewrite minus_IZR in *. rewrite plus_IZR. lra.
Qed.

Lemma flush_loss_fixed c : flush_loss c <=
  fixed (2 ^ Z.max 0 (width + (if flushes c then emin c else emin c - (p c + near_share c)) - tiny_unit)) * u.
Proof.
  rewrite fix_power by lia. unfold u, flush_loss, share, near_share. rewrite <- bpow_plus.
  destruct (flushes c); [apply bpow_le; lia|]. destruct (nearest (rho c)); rewrite <- bpow_plus; apply bpow_le; lia.
Qed.

Lemma share_fixed c : (p c + near_share c <= width)%Z -> share c = fixed (2 ^ (width - (p c + near_share c))).
Proof. intros H. rewrite fix_power by lia. unfold share, near_share. destruct (nearest (rho c)); f_equal; lia. Qed.

Lemma some_pair (a b k h : Z) : Some (a, b) = Some (k, h) -> k = a /\ h = b.
Proof. intros H. now injection H. Qed.

(** One sum: what it loses of its operands' magnitudes and beside. *)
Lemma stage_error s l m ts z k h leads : Forall2 related l m -> forallb known m = true -> map value_of_it l = map Num ts ->
  leads = match fraction_bits s with Some f => forallb (fun b => fits_in (settles b) f) m | None => true end ->
  stage_loss s (Z.of_nat (length (live_ones m))) leads = Some (k, h) -> (0 <= p (out s))%Z -> sum_numbers s ts = Num z ->
  (0 <= k)%Z /\ (0 <= h)%Z /\ flush_loss (out s) <= fixed h * u /\ Rabs (V z - exact_sum ts) <= fixed k * magnitude ts + fixed h * u.
Proof.
  intros H K E Le O P Hz. unfold stage_loss in O. destruct (exact_node s) eqn:X.
  - set (rest := Z.max 0 (width + (if flushes (out s) then emin (out s) else emin (out s) - (p (out s) + near_share (out s))) - tiny_unit)) in *.
    destruct (p (out s) + near_share (out s) <=? width)%Z eqn:G1; [|discriminate]. apply some_pair in O. destruct O as [-> ->]. apply Z.leb_le in G1.
    pose proof (Z.pow_nonneg 2 (width - (p (out s) + near_share (out s)))). pose proof (Z.pow_nonneg 2 rest).
    pose proof (flush_loss_fixed (out s)) as FL. fold rest in FL. rewrite <- (share_fixed (out s) G1). split; [lia|].
    split; [lia|]. split; [exact FL|]. pose proof (exact_node_loss s ts z X Hz). lra.
  - destruct (fraction_bits s) as [f|] eqn:F; [|easy]. destruct (zero_exponent s) eqn:Ze; try easy. destruct (carry_bits s) eqn:Cb; [easy|].
    set (c := out s) in *. set (low := (p c + near_share c)%Z) in *. set (lost := Z.max (Z.of_nat (length (live_ones m)) - 1) 0) in *.
    set (kp := if nearest (rho c) then lost else Z.max (lost - 1) 0) in *. set (more := match alignment s with RZ => 0%Z | _ => lost end) in *.
    set (rest := (width + floor - low - f - tiny_unit)%Z) in *.
    match type of O with (if ?g then _ else _) = _ => destruct g eqn:G; [|easy] end. apply some_pair in O. destruct O as [-> ->].
    repeat rewrite andb_true_iff in G. destruct G as [[[[[[[G1 G2] G3] G4] G5] G6] G7] G8]. apply Z.leb_le in G4, G5, G6, G7, G8. apply negb_true_iff in G3.
    rewrite G1 in Le. symmetry in Le. assert (L0 : (0 <= lost)%Z) by lia.
    assert (K0 : (0 <= kp)%Z) by (unfold kp; destruct (nearest (rho c)); lia). assert (M0 : (0 <= more)%Z) by (unfold more; destruct (alignment s); lia).
    assert (low0 : (0 <= low)%Z) by (unfold low, near_share; destruct (nearest (rho c)); lia).
    assert (Kp : kept c (IZR lost) = IZR kp).
    { unfold kept, kp. destruct (nearest (rho c)); auto. destruct (Z.max_spec (lost - 1) 0) as [[h ->]|[h ->]].
      - rewrite Rmax_right; auto. assert (IZR lost < 1) by (apply IZR_lt; lia). lra.
      - rewrite Rmax_left, minus_IZR; auto. assert (1 <= IZR lost) by (apply IZR_le; lia). lra. }
    assert (Gr : growth (alignment s) f (IZR lost) = IZR more * bp (- f)) by (unfold growth, more; destruct (alignment s); ring).
    assert (Sh : share c = bp (- low)) by (unfold share, low, near_share; destruct (nearest (rho c)); f_equal; lia).
    assert (Kk : fixed (kp * 2 ^ (width - f) + 2 ^ (width - low) + more * 2 ^ (width - low - f)) = kappa s f (IZR lost)).
    { rewrite !fix_plus, <- !fix_times, !fix_power by lia. unfold kappa. fold c.
      rewrite Kp, Gr, Sh.
      replace (width - f - width)%Z with (- f)%Z by lia. replace (width - low - width)%Z with (- low)%Z by lia.
      replace (width - low - f - width)%Z with (- low + - f)%Z by lia. rewrite bpow_plus. ring. }
    assert (Hh : fixed (kp * 2 ^ (rest + low) + 2 ^ (rest + f) + more * 2 ^ rest) * u = eta s f floor (IZR lost)).
    { rewrite !fix_plus, <- !fix_times, !fix_power by lia. unfold eta. fold c.
      rewrite Kp, Gr, Sh.
      rewrite Z.max_l by lia. unfold u.
      replace (rest + low - width)%Z with (floor + - f - tiny_unit)%Z by (unfold rest; lia).
      replace (rest + f - width)%Z with (floor + - low - tiny_unit)%Z by (unfold rest; lia).
      replace (rest - width)%Z with (floor + - low + - f - tiny_unit)%Z by (unfold rest; lia). unfold Zminus. rewrite !bpow_plus.
      assert (B1 : bp (- tiny_unit) * bp tiny_unit = 1) by (rewrite <- bpow_plus; replace (- tiny_unit + tiny_unit)%Z with 0%Z by lia; reflexivity).
      transitivity ((IZR kp * (bp floor * bp (- f)) + bp floor * bp (- low) + IZR more * (bp floor * bp (- low) * bp (- f))) * (bp (- tiny_unit) * bp tiny_unit)); [ring|].
      rewrite B1. ring. }
    pose proof (Z.pow_nonneg 2 (width - f)). pose proof (Z.pow_nonneg 2 (width - low)). pose proof (Z.pow_nonneg 2 (width - low - f)).
    pose proof (Z.pow_nonneg 2 (rest + low)). pose proof (Z.pow_nonneg 2 (rest + f)). pose proof (Z.pow_nonneg 2 rest).
    split; [nia|]. split; [nia|]. rewrite Kk, Hh. apply IZR_le in L0 as L0'.
    split.
    { unfold flush_loss. rewrite (plain_flushes _ G2). unfold eta. fold c. pose proof (kept_pos c (IZR lost) L0'). pose proof (growth_pos (alignment s) f (IZR lost) L0').
      pose proof (share_pos c). pose proof (bpow_ge_0 radix2 (floor - f)). assert (bp (emin c) <= bp (Z.max floor (emin c))) by (apply bpow_le; lia).
      pose proof (bpow_ge_0 radix2 (emin c)). assert (0 <= kept c (IZR lost) * bp (floor - f)) by (now apply Rmult_le_pos).
      assert (share c * bp (emin c) <= share c * ((1 + growth (alignment s) f (IZR lost)) * bp (Z.max floor (emin c)))); [|lra].
      apply Rmult_le_compat_l; [lra|]. nra. }
    pose proof (kappa_pos s f (IZR lost) L0') as KP. pose proof (eta_pos s f floor (IZR lost) L0') as EP.
    assert (Mg : 0 <= magnitude ts) by (apply Rsum_nonneg; intros; apply Rabs_pos).
    assert (T : exact_total s ts) by (apply no_carry_exact; exact Cb).
    destruct (largest s ts) as [ex|] eqn:Q.
    + destruct (largest_attained s ts ex Q) as [y [Hy Ey]]. unfold term_exponent in Ey. destruct (is_zero y) eqn:Zy; [now rewrite Ze in Ey|].
      rewrite G3 in Ey. injection Ey as Ey.
      assert (Sy : settled f y /\ floored floor y).
      { clear -H K E Le Hy. revert ts E Hy. induction H as [|x b l m Hx H IH]; intros ts E Hy; destruct ts as [|t ts]; try easy.
        cbn [map] in E. injection E as E1 E2. cbn [forallb] in K, Le. apply andb_prop in K. destruct K as [K1 K2]. apply andb_prop in Le. destruct Le as [Le1 Le2].
        destruct Hy as [->|Hy]; [|eapply IH; eauto]. destruct (Hx K1) as [_ [_ [_ [_ X5]]]]. destruct (X5 y E1) as [_ [X6 _]].
        unfold fits_in in Le1. destruct (settles b) as [q|]; [|easy]. apply Z.leb_le in Le1. apply (X6 q f eq_refl Le1). }
      destruct Sy as [Sy By]. apply (sum_absolute s f ts ex floor z (IZR lost)); auto.
      * destruct (By Zy) as [B1|B1]; [left|right; lia]. rewrite Ey in B1. eapply Rle_trans; [exact B1|]. now apply magnitude_in.
      * assert (U : unit_of s ts = (ex - f)%Z) by (unfold unit_of; now rewrite F, Q).
        pose proof (cut_losses s ts) as CL. cbv zeta in CL. rewrite U in CL. eapply Rle_trans; [exact CL|].
        destruct (live_losses (alignment s) (ex - f) l m ts H K E) as [_ LL]. rewrite <- Ey in *. specialize (LL y Hy Zy (settled_loss _ _ _ Sy)).
        eapply Rle_trans; [exact LL|]. apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. unfold lost. lia.
    + assert (Zs : forall t, In t ts -> is_zero t = true) by (intros t Ht; now apply (largest_none s ts)).
      assert (ES : exact_sum ts = 0).
      { unfold exact_sum. rewrite (Rsum_ext V (fun _ => 0)) by (intros; apply V_zero; auto). clear. induction ts; cbn; [reflexivity|]. unfold Rsum in *. cbn. lra. }
      unfold sum_numbers in Hz. rewrite T in Hz. pose proof (convert_num _ _ _ _ _ G2 Hz) as C.
      assert (N : zsum (counts s ts) = 0%Z).
      { unfold counts. rewrite zeros_count; [apply zsum_zeros|]. apply forallb_forall. exact Zs. }
      rewrite N, Rmult_0_l in C. unfold flt_rnd in C. rewrite round_0 in C by auto with typeclass_instances.
      rewrite C, ES, Rminus_0_r, Rabs_R0. nra.
Qed.

(** ** Sums keep the relation *)

Definition add_parts (s : stage) (l : list partial_result) : partial_result :=
  {| sum_of_it := Rsum (map sum_of_it l); size_of_it := Rsum (map size_of_it l); size_of_c := Rsum (map size_of_c l); value_of_it := add s (map value_of_it l) |}.
Definition zero_part (s : stage) : partial_result := {| sum_of_it := 0; size_of_it := 0; size_of_c := 0; value_of_it := zero_of (stage_rounding s) |}.
Definition no_part : partial_result := {| sum_of_it := 0; size_of_it := 0; size_of_c := 0; value_of_it := NaN |}.

Lemma flt_short c x : (0 <= p c)%Z -> short_number (p c) (flushed_rnd c x).
Proof.
  intros P. assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). pose proof (flt_valid c P). unfold short_number, flushed_rnd.
  destruct (_ && _); [apply generic_format_0|]. apply generic_format_FLX_FLT with (emin c - p c)%Z. unfold flt_rnd, flt. apply generic_format_round; auto with typeclass_instances.
Qed.

Lemma plain_flushed c x : plain c = true -> flushed_rnd c x = flt_rnd c x.
Proof. intros P. unfold flushed_rnd. now rewrite (plain_flushes _ P). Qed.

(** What every result of a sum is. *)
Lemma result_shape s ts z k h n leads : stage_loss s n leads = Some (k, h) -> (0 <= p (out s))%Z -> (emin (out s) <= emax (out s))%Z -> (emin (out s) <= floor)%Z ->
  sum_numbers s ts = Num z -> short_number (p (out s)) (V z) /\
  (plain (out s) = true -> forall f, (p (out s) <= f)%Z -> settled f z /\ floored floor z).
Proof.
  intros O P M Fl H. split.
  - unfold stage_loss in O. destruct (exact_node s) eqn:X.
    + rewrite (exact_node_value _ _ _ X H). now apply flt_short.
    + destruct (fraction_bits s); [|easy]. destruct (zero_exponent s); try easy. destruct (carry_bits s); [easy|].
      match type of O with (if ?g then _ else _) = _ => destruct g eqn:G; [|easy] end. repeat rewrite andb_true_iff in G. destruct G as [[[[[[[_ G2] _] _] _] _] _] _].
      unfold sum_numbers in H. rewrite (convert_num _ _ _ _ _ G2 H), <- plain_flushed by exact G2. now apply flt_short.
  - intros Pl f Pf. unfold sum_numbers in H. destruct (result_fit s f floor (emin (out s)) _ _ _ z Pl Pf M Fl ltac:(lia) H) as [A [B _]]. auto.
Qed.

Lemma sum_related s l m : Forall2 related l m -> related (add_parts s l) (after_stage s m).
Proof.
  intros H K. destruct s as [d|]; [|easy]. cbn [after_stage] in *. unfold after_sum in *. set (c := out d) in *.
  set (leads := match fraction_bits d with Some f => forallb (fun b => fits_in (settles b) f) m | None => true end) in *.
  destruct (stage_loss d (Z.of_nat (length (live_ones m))) leads) as [[k h]|] eqn:O; [|easy].
  destruct (forallb known m && (0 <=? p c)%Z && (emin c <=? emax c)%Z && (emin c <=? floor)%Z) eqn:Gd; [|easy].
  repeat rewrite andb_true_iff in Gd. destruct Gd as [[[Km Pc] Em] Fl]. apply Z.leb_le in Pc, Em, Fl.
  set (S := Rsum (map sum_of_it l)) in *. set (A := Rsum (map size_of_it l)) in *. set (Ac := Rsum (map size_of_c l)) in *.
  assert (Inv : forall z, add (Stage d) (map value_of_it l) = Num z -> exists ts, map value_of_it l = map Num ts /\ sum_numbers d ts = Num z).
  { intros z Hz. cbn [add] in Hz. destruct (sum_values_inv _ _ _ Hz) as [ts Et]. rewrite Et, sum_values_num in Hz. eauto. }
  assert (SA : 0 <= A /\ 0 <= Ac /\ Rabs S <= A + Ac).
  { clear -H Km. unfold S, A, Ac. revert Km. induction H as [|x b l m Hx H IH]; intros Km; cbn; [rewrite Rabs_R0; lra|].
    cbn [forallb] in Km. apply andb_prop in Km. destruct Km as [K1 K2]. destruct (Hx K1) as [[X0 [X1 X2]] _]. destruct (IH K2) as [I0 [I1 I2]].
    unfold Rsum in *. split; [lra|]. split; [lra|]. eapply Rle_trans; [apply Rabs_triang|]. lra. }
  assert (Z0 : fixed 0 = 0) by (unfold fixed; lra). pose proof u_pos as U0.
  (* factors and what is beside *)
  set (F := fold_right Z.max one (map factor (live_ones m))) in *. set (G := fold_right Z.max 0%Z (map of_c (live_ones m))) in *. set (B := fold_right Z.add 0%Z (map beside (live_ones m))) in *.
  assert (F1 : (one <= F)%Z) by (unfold F; clear; induction (live_ones m); cbn [map fold_right]; lia).
  assert (G1 : (one <= G)%Z \/ G = 0%Z /\ Ac = 0).
  { clear -H Km. unfold G, Ac, live_ones. revert Km. induction H as [|x b l m Hx H IH]; intros Km; [right; cbn; auto|].
    cbn [forallb filter] in *. apply andb_prop in Km. destruct Km as [K1 K2]. destruct (Hx K1) as [_ [[_ X2] [_ [X4 _]]]]. cbn [map]. rewrite Rsum_cons. destruct (nothing b) eqn:N; cbn [negb].
    - destruct (X4 eq_refl) as [_ [[_ Y] _]]. rewrite Y, Rplus_0_l. now apply IH.
    - cbn [map fold_right]. destruct X2 as [X2|[X2 X3]]; [left; lia|]. rewrite X2, X3, Rplus_0_l. destruct (IH K2) as [I|[I J]]; [left; lia|right]. split; [lia|exact J]. }
  assert (Fm : forall b, In b (live_ones m) -> (factor b <= F)%Z /\ (of_c b <= G)%Z).
  { unfold F, G. clear. induction (live_ones m) as [|x r IH]; intros b Hb; [destruct Hb|]. cbn [map fold_right]. destruct Hb as [->|Hb]; [lia|]. specialize (IH b Hb). lia. }
  assert (B0 : (0 <= B)%Z).
  { clear -H Km. unfold B, live_ones. revert Km. induction H as [|x b l m Hx H IH]; intros Km; cbn; [lia|].
    cbn [forallb] in Km. apply andb_prop in Km. destruct Km as [K1 K2]. destruct (Hx K1) as [_ [_ [X3 _]]]. specialize (IH K2).
    destruct (nothing b); cbn; lia. }
  (* k and h are not negative *)
  assert (KH : (0 <= k)%Z /\ (0 <= h)%Z).
  { clear -O Pc. unfold stage_loss in O. fold c in O. destruct (exact_node d).
    - match type of O with (if ?g then _ else _) = _ => destruct g eqn:G; [|easy] end. apply some_pair in O. destruct O as [-> ->].
      split; apply Z.pow_nonneg; lia.
    - destruct (fraction_bits d); [|easy]. destruct (zero_exponent d); try easy. destruct (carry_bits d); [easy|].
      match type of O with (if ?g then _ else _) = _ => destruct g eqn:G; [|easy] end. apply some_pair in O. destruct O as [-> ->].
      assert (Q : forall x, (0 <= 2 ^ x)%Z) by (intros; apply Z.pow_nonneg; lia).
      split; repeat apply Z.add_nonneg_nonneg; try apply Z.mul_nonneg_nonneg; auto; destruct (alignment d); destruct (nearest (rho c)); lia. }
  destruct KH as [k0 h0].
  assert (FK : fixed (one + k) = 1 + fixed k) by (now rewrite fix_plus, fix_one).
  set (rounded := {| known := true; nothing := false; short := Some (p c); settles := if plain c then Some (p c) else None;
                     factor := up (F * (one + k)) width; of_c := up (G * (one + k)) width; beside := (up (B * (one + k)) width + h)%Z |}) in *.
  assert (Rounded : related (add_parts (Stage d) l) rounded).
  { intros _. cbn [add_parts sum_of_it size_of_it size_of_c value_of_it rounded factor of_c beside nothing short settles]. fold S A Ac.
    pose proof (fix_up F (one + k)) as UF. pose proof (fix_up G (one + k)) as UG. pose proof (fix_up B (one + k)) as UB. rewrite FK in UF, UG, UB.

    pose proof (fix_nonneg k k0) as fk0. pose proof (fix_nonneg h h0) as fh0. pose proof (fix_nonneg B B0) as fB0. pose proof (fix_le _ _ F1) as fF1. rewrite fix_one in fF1.
    assert (Up0 : forall x, (0 <= x)%Z -> (0 <= up x width)%Z).
    { intros x Hx. unfold up. rewrite Z.shiftr_div_pow2 by (unfold width; lia). assert ((- x) / 2 ^ width <= 0)%Z; [|lia].
      apply Z.div_le_upper_bound; [unfold width; lia|]. lia. }
    split; [exact SA|]. split.
    { assert (Q : forall x, 1 <= fixed x -> fixed x * (1 + fixed k) <= fixed (up (x * (one + k)) width) -> (one <= up (x * (one + k)) width)%Z).
      { intros x Hx Ux. assert (Q : fixed one <= fixed (up (x * (one + k)) width)).
        { rewrite fix_one. eapply Rle_trans; [|exact Ux]. pose proof (Rmult_le_compat 1 (fixed x) 1 (1 + fixed k)). lra. }
        unfold fixed in Q. apply Rmult_le_reg_r in Q; [|apply bpow_gt_0]. now apply le_IZR. }
      split; [apply Q; auto|]. destruct G1 as [G1|[G1 Q1]].
      - left. pose proof (fix_le _ _ G1) as fG1. rewrite fix_one in fG1. now apply Q.
      - right. split; [|exact Q1]. rewrite G1. reflexivity. }
    split.
    { assert (one0 : (0 <= one)%Z) by (unfold one; apply Z.pow_nonneg; lia). pose proof (Up0 (B * (one + k))%Z ltac:(apply Z.mul_nonneg_nonneg; lia)). lia. }
    split; [intros Q; discriminate Q|]. intros z Hz. destruct (Inv z Hz) as [ts [Et Ez]].
    destruct (result_shape d ts z k h _ _ O Pc Em Fl Ez) as [Sh Se].
    split; [intros q Hq; injection Hq as <-; exact Sh|]. split.
    { intros q f Hq Qf. destruct (plain c) eqn:Pl; [|easy]. injection Hq as <-. now apply Se. }
    destruct (parts_total F G l m ts H Km Et F1 Fm) as [T1 T2]. fold S A Ac B in T1, T2.
    destruct (stage_error d l m ts z k h leads H Km Et eq_refl O Pc Ez) as [_ [_ [_ SE]]].
    destruct SA as [A0 [Ac0 _]]. rewrite fix_plus.
    replace (V z - S) with ((V z - exact_sum ts) + (exact_sum ts - S)) by ring. eapply Rle_trans; [apply Rabs_triang|].
    pose proof (Rmult_le_compat_l _ _ _ fk0 T2) as KT.
    pose proof (Rmult_le_compat_r A _ _ A0 UF) as UA. pose proof (Rmult_le_compat_r Ac _ _ Ac0 UG) as UC. pose proof (Rmult_le_compat_r u _ _ (Rlt_le _ _ U0) UB) as UU. lra. }
  destruct (live_ones m) as [|x [|y r]] eqn:Lv; [| |exact (Rounded eq_refl)].
  - destruct (exact_node d) eqn:X; [clear Rounded; clear rounded|exact (Rounded eq_refl)]. cbn [plus_zero_bound factor of_c beside nothing short settles].
    assert (Al : S = 0 /\ (A = 0 /\ Ac = 0) /\ exists ts, map value_of_it l = map Num ts /\ (forall t, In t ts -> V t = 0)).
    { clear -H Km Lv. unfold S, A, Ac, live_ones in *. revert Km Lv. induction H as [|a b l m Hx H IH]; intros Km Lv; [cbn; repeat split; auto; exists []; split; [reflexivity|easy]|].
      cbn [forallb filter] in Km, Lv. apply andb_prop in Km. destruct Km as [K1 K2]. destruct (nothing b) eqn:N; [|discriminate]. cbn in Lv.
      destruct (IH K2 Lv) as [I1 [[I2 I2'] [ts [I3 I4]]]]. destruct (Hx K1) as [_ [_ [_ [X4 _]]]]. destruct (X4 N) as [Y1 [[Y2 Y2'] [y [Y3 Y4]]]].
      cbn [map]. rewrite !Rsum_cons, I1, I2, I2', Y1, Y2, Y2'. split; [ring|]. split; [split; ring|]. exists (y :: ts). cbn. rewrite Y3, I3. split; auto. intros t [<-|Ht]; auto. }
    destruct Al as [S0' [[A0' C0'] [ts [Et Zt]]]].
    assert (Val : exists y, add (Stage d) (map value_of_it l) = Num y /\ V y = 0).
    { cbn [add]. rewrite Et, sum_values_num.
      assert (Tn : total d ts = 0%Z).
      { unfold exact_node in X. destruct (fraction_bits d) eqn:Fb; [discriminate|]. destruct (carry_bits d) eqn:Kb; [discriminate|]. unfold total. rewrite Kb. unfold counts.
        rewrite zeros_count; [apply zsum_zeros|]. apply forallb_forall. intros t Ht. apply V_nothing, Zt, Ht. }
      unfold sum_numbers. rewrite Tn. destruct (convert (out d) _ 0 (unit_of d ts)) as [y| |] eqn:Cv.
      - exists y. split; auto. assert (Mc : monotone_conv (out d) = true) by (unfold exact_node in X; destruct (fraction_bits d), (carry_bits d); try discriminate X; exact X).
        rewrite (convert_num_flushed _ _ _ _ _ Mc Cv). rewrite Rmult_0_l. unfold flushed_rnd. destruct (_ && _); auto. unfold flt_rnd. pose proof (flt_valid _ Pc). apply round_0; auto with typeclass_instances.
      - exfalso. unfold convert in Cv. rewrite round_div_0 in Cv. cbn in Cv. discriminate Cv.
      - exfalso. unfold convert in Cv. rewrite round_div_0 in Cv. cbn in Cv. discriminate Cv. }
    destruct Val as [y [Vy Vy0]]. cbn [add_parts sum_of_it size_of_it size_of_c value_of_it]. fold S A Ac. rewrite S0', A0', C0'.
    split; [rewrite Rabs_R0; lra|]. split; [split; [lia|right; auto]|]. split; [lia|]. split; [intros _; repeat split; auto; eauto|].
    intros z Hz. rewrite Vy in Hz. injection Hz as <-. rewrite Vy0. split; [intros q _; apply generic_format_0|]. split.
    { intros q f _ _. split; [unfold settled; rewrite Vy0; apply generic_format_0|]. intros Nz. rewrite V_nothing in Nz by exact Vy0. discriminate Nz. }
    rewrite Rminus_0_r, Rabs_R0, fix_one, Z0. lra.
  - destruct (fits_in (short x) (p c)) eqn:Sx; [clear Rounded; clear rounded|exact (Rounded eq_refl)]. cbn [factor of_c beside nothing short settles].
    assert (Fx : forall b, In b (live_ones m) -> (factor b <= factor x)%Z /\ (of_c b <= of_c x)%Z) by (rewrite Lv; intros b [<-|[]]; lia).
    assert (Bx : B = beside x) by (unfold B; cbn; lia).
    assert (Px : exists p0, In (p0, x) (combine l m) /\ related p0 x /\ known x = true).
    { clear -H Lv Km. unfold live_ones in Lv. revert Lv Km. induction H as [|a b l m Hx H IH]; intros Lv Km; [discriminate|]. cbn [filter forallb] in Lv, Km. apply andb_prop in Km. destruct Km as [K1 K2].
      destruct (nothing b) eqn:N; cbn [negb] in Lv.
      - destruct (IH Lv K2) as [p0 [I J]]. exists p0. split; auto. now right.
      - injection Lv as -> Lv. exists a. split; [now left|]. auto. }
    destruct Px as [p0 [Ip [Rp Kx]]]. destruct (Rp Kx) as [_ [[Fx1 Gx1] [Bx0 [_ X5]]]].
    cbn [add_parts sum_of_it size_of_it size_of_c value_of_it]. fold S A Ac.
    split; [exact SA|]. split.
    { split; [exact Fx1|]. assert (one0 : (0 < one)%Z) by (unfold one; apply Z.pow_pos_nonneg; [reflexivity|discriminate]).
      unfold G in G1. cbn [map fold_right] in G1. destruct G1 as [Q|[Q1 Q2]]; [left; lia|]. destruct Gx1 as [Q|[Q _]]; [exfalso; lia|right; auto]. } split; [lia|]. split; [intros Q; discriminate Q|]. intros z Hz. destruct (Inv z Hz) as [ts [Et Ez]].
    destruct (result_shape d ts z k h _ _ O Pc Em Fl Ez) as [Sh Se].
    split; [intros q Hq; injection Hq as <-; exact Sh|]. split.
    { intros q f Hq Qf. destruct (plain c) eqn:Pl; [|discriminate]. injection Hq as <-. apply Se; auto. }
    destruct (parts_total (factor x) (of_c x) l m ts H Km Et Fx1 Fx) as [T1 _]. rewrite Lv in T1. cbn [map fold_right] in T1. rewrite Z.add_0_r in T1. fold S A Ac in T1.
    (* the only number that is not zero *)
    assert (Single : exists t, value_of_it p0 = Num t /\ In t ts /\ exact_sum ts = V t /\ forall y, In y ts -> y = t \/ V y = 0).
    { clear -H Km Lv Ip Et. unfold live_ones in Lv. revert ts Et Km Lv Ip. induction H as [|a b l m Hx H IH]; intros ts Et Km Lv Ip; [discriminate|].
      destruct ts as [|t ts]; [discriminate|]. cbn [map] in Et. injection Et as E1 E2. cbn [filter forallb combine] in Lv, Km, Ip. apply andb_prop in Km. destruct Km as [K1 K2].
      destruct (nothing b) eqn:N; cbn [negb] in Lv.
      - destruct Ip as [Ip|Ip]; [injection Ip as -> ->|].
        + exfalso. assert (In x (filter (fun b => negb (nothing b)) m)) by (rewrite Lv; now left). apply filter_In in H0. destruct H0 as [_ H0]. rewrite N in H0. discriminate H0.
        + destruct (IH ts E2 K2 Lv Ip) as [t0 [I1 [I2 [I3 I4]]]]. destruct (Hx K1) as [_ [_ [_ [X4 _]]]]. destruct (X4 N) as [_ [_ [y [Y3 Y4]]]]. rewrite E1 in Y3. injection Y3 as <-.
          exists t0. split; auto. split; [now right|]. unfold exact_sum in *. cbn [map]. rewrite Rsum_cons, Y4, I3. split; [ring|].
          intros y [<-|Hy]; auto.
      - injection Lv as -> Lv. assert (Zs : exact_sum ts = 0 /\ forall y, In y ts -> V y = 0).
        { clear -H K2 Lv E2. revert ts E2 K2 Lv. induction H as [|a' b' l m Hx H IH]; intros ts E2 K2 Lv.
          { destruct ts; [split; [reflexivity|intros y []]|discriminate E2]. }
          destruct ts as [|t ts]; [discriminate E2|].
          cbn [map] in E2. injection E2 as E1 E2. cbn [forallb filter] in K2, Lv. apply andb_prop in K2. destruct K2 as [K1 K2].
          destruct (nothing b') eqn:N; [|discriminate]. cbn in Lv. destruct (IH ts E2 K2 Lv) as [I1 I2]. destruct (Hx K1) as [_ [_ [_ [X4 _]]]].
          destruct (X4 N) as [_ [_ [y [Y3 Y4]]]]. rewrite E1 in Y3. injection Y3 as <-. unfold exact_sum in *. cbn [map]. rewrite Rsum_cons, Y4, I1.
          split; [ring|]. intros y [<-|Hy]; auto. }
        destruct Zs as [Zs1 Zs2]. assert (Pa : p0 = a \/ value_of_it p0 = Num t \/ True) by auto. clear Pa.
        assert (Pq : p0 = a).
        { destruct Ip as [Ip|Ip]; [congruence|]. exfalso. apply in_combine_r in Ip.
          assert (In x (filter (fun b => negb (nothing b)) m)) by (apply filter_In; split; auto; now rewrite N). rewrite Lv in H0. destruct H0. }
        subst a. exists t. split; auto. split; [now left|]. unfold exact_sum in *. cbn [map]. rewrite Rsum_cons, Zs1. split; [ring|].
        intros y [<-|Hy]; auto. }
    destruct Single as [t [Vt [It [Es Ot]]]]. destruct (X5 t Vt) as [Xs [Xf _]].
    assert (Loss : Rabs (V z - V t) <= fixed h * u).
    { assert (St : short_number (p c) (V t)).
      { unfold fits_in in Sx. destruct (short x) as [q|]; [|discriminate]. apply Z.leb_le in Sx. specialize (Xs q eq_refl). unfold short_number in *.
        eapply generic_inclusion_mag; [|exact Xs]. intros _. unfold FLX_exp. lia. }
      assert (Vz : V z = flushed_rnd c (V t) /\ flush_loss c <= fixed h * u).
      { destruct (stage_error d l m ts z k h leads H Km Et eq_refl ltac:(rewrite Lv; exact O) Pc Ez) as [_ [_ [FlL _]]]. split; [|exact FlL].
        rewrite <- Es. destruct (exact_node d) eqn:X; [exact (exact_node_value _ _ _ X Ez)|].
        unfold stage_loss in O. rewrite X in O. destruct (fraction_bits d) as [f|] eqn:Fb; [|discriminate]. destruct (zero_exponent d) eqn:Ze; try discriminate. destruct (carry_bits d) eqn:Cb; [discriminate|].
        match type of O with (if ?g then _ else _) = _ => destruct g eqn:Gs; [|discriminate] end. repeat rewrite andb_true_iff in Gs. destruct Gs as [[[[[[[H1 H2] H3] _] _] _] _] _].
        fold c in H2. rewrite plain_flushed by exact H2. unfold sum_numbers in Ez. rewrite (convert_num _ _ _ _ _ H2 Ez). f_equal.
        unfold total. rewrite Cb. pose proof (counts_ok d ts) as CO. cbv zeta in CO. rewrite CO.
        assert (All : forall y, In y ts -> fix_rnd (alignment d) (unit_of d ts) (V y) = V y); [|unfold exact_sum; f_equal; apply map_ext_in; exact All].
        intros y Hy. destruct (Ot y Hy) as [->|V0]; [|rewrite V0; unfold fix_rnd; apply round_0; auto with typeclass_instances].
        destruct (is_zero t) eqn:Zt; [rewrite (V_zero t Zt); unfold fix_rnd; apply round_0; auto with typeclass_instances|].
        assert (St' : settled f t).
        { unfold leads in H1. rewrite forallb_forall in H1. assert (Ix : In x m) by (assert (In x (live_ones m)) by (rewrite Lv; now left); apply filter_In in H0; apply H0).
          specialize (H1 x Ix). unfold fits_in in H1. destruct (settles x) as [q|]; [|discriminate]. apply Z.leb_le in H1. apply (Xf q f eq_refl H1). }
        assert (U : unit_of d ts = (exp t - f)%Z).
        { unfold unit_of. rewrite Fb. assert (La : largest d ts = Some (exp t)).
          { destruct (largest d ts) as [ex|] eqn:Q.
            - destruct (largest_attained d ts ex Q) as [y' [Hy' Ey]]. destruct (Ot y' Hy') as [->|V0].
              + unfold term_exponent in Ey. rewrite Zt in Ey. apply negb_true_iff in H3. rewrite H3 in Ey. symmetry. exact Ey.
              + unfold term_exponent in Ey. rewrite (V_nothing y' V0), Ze in Ey. discriminate Ey.
            - rewrite (largest_none d ts t Q It) in Zt. discriminate Zt. }
          rewrite La. reflexivity. }
        rewrite U. pose proof (settled_loss (alignment d) f t St') as SL. unfold loss in SL. apply Rabs_eq_R0 in SL. lra. }
      destruct Vz as [-> FlL]. eapply Rle_trans; [apply short_loss; auto|exact FlL]. }
    rewrite fix_plus. replace (V z - S) with ((V z - V t) + (exact_sum ts - S)) by (rewrite Es; ring). eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
End Analysis.
