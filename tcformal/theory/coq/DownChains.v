(** The relative error of sums that are rounded down (CDNA3), from words: what a block loses of its own products and of c, and how it
    grows in a chain of any length. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Signs Again DownAgain Losses Accumulated Trees Exact Orders Paths Growth Down.
Import ListNotations.
Open Scope R_scope.

(** * One block *)

(** A sum of products of value S and magnitude A that is not yet rounded: it has lost L units of the largest one at most. *)
Definition near_partial (f : Z) (x : partial) (L A S : R) : Prop :=
  Rabs S <= A /\ 0 <= L /\
  match Design.top x with
  | None => count x = 0%Z /\ S = 0
  | Some e => Design.unit x = (e - f)%Z /\ bp e <= A /\ Rabs (IZR (count x) * bp (e - f) - S) <= L * bp (- f) * A
  end.

Lemma near_more f x L L' A S : L <= L' -> near_partial f x L A S -> near_partial f x L' A S.
Proof.
  intros LL [SA [L0 H]]. split; [exact SA|]. split; [lra|]. destruct (Design.top x) as [e|]; [|exact H]. destruct H as [U [B E]].
  split; auto. split; auto. eapply Rle_trans; [exact E|]. pose proof (Rabs_pos S). pose proof (bpow_ge_0 radix2 (- f)).
  apply Rmult_le_compat_r; [lra|]. now apply Rmult_le_compat_r.
Qed.

(** Truncated products: the largest loses nothing. *)
Lemma truncated_near r f lam ps : fraction_bits (products_sum r) = Some f -> carry_bits (products_sum r) = None -> normalise (products_sum r) = false ->
  zero_exponent (products_sum r) = ZeroNone -> 0 <= lam ->
  Forall (fun y => settled f y /\ normal y /\ forall u, loss (alignment (products_sum r)) u y <= lam * bp u) ps ->
  near_partial f (truncated r ps) (lam * IZR (Z.max (Z.of_nat (length ps) - 1) 0)) (magnitude ps) (exact_sum ps).
Proof.
  intros F K Nn Ze La Fp. set (s := products_sum r) in *. split; [apply exact_sum_abs|].
  split; [apply Rmult_le_pos; [exact La|apply IZR_le; lia]|]. unfold truncated. cbn [Design.top count Design.unit]. fold s.
  unfold total. rewrite K. destruct (largest s ps) as [e|] eqn:Q.
  - assert (U : unit_of s ps = (e - f)%Z) by (unfold unit_of; now rewrite F, Q). split; [exact U|].
    destruct (largest_attained s ps e Q) as [y [Hy Ey]]. unfold term_exponent in Ey. destruct (is_zero y) eqn:Zy; [rewrite Ze in Ey; discriminate Ey|].
    rewrite Nn in Ey. injection Ey as Ey. pose proof Fp as Fp'. rewrite Forall_forall in Fp'. destruct (Fp' y Hy) as [Sy [By _]]. specialize (By Zy). rewrite Ey in By.
    assert (BA : bp e <= magnitude ps) by (eapply Rle_trans; [exact By|now apply magnitude_in]). split; [exact BA|].
    pose proof (cut_losses s ps) as CL. cbv zeta in CL. rewrite U in CL. eapply Rle_trans; [exact CL|].
    set (o := {| neg := false; sig := 0; exp := 0; frac := 0 |}).
    apply Rle_trans with (Rsum (map (loss (alignment s) (e - f)) (ps ++ [o]))).
    { rewrite map_app, Rsum_app. cbn [map Rsum fold_right]. pose proof (loss_pos (alignment s) (e - f) o). lra. }
    eapply Rle_trans; [apply (losses_alone (alignment s) (e - f) lam ps o y La)|].
    + eapply Forall_impl; [|exact Fp]. intros q Hq. apply Hq.
    + reflexivity.
    + exact Hy.
    + rewrite <- Ey. now apply settled_loss.
    + replace (bp (e - f)) with (bp (- f) * bp e) by (rewrite <- bpow_plus; f_equal; lia). rewrite <- Rmult_assoc.
      apply Rmult_le_compat_l; [|exact BA]. apply Rmult_le_pos; [|apply bpow_ge_0]. apply Rmult_le_pos; [exact La|]. apply IZR_le. lia.
  - assert (Az : forall y, In y ps -> is_zero y = true) by (intros y Hy; now apply (largest_none s ps)). split.
    + unfold counts. rewrite zeros_count; [apply zsum_zeros|]. now apply forallb_forall.
    + unfold exact_sum. rewrite (Rsum_ext V (fun _ => 0)) by (intros; apply V_zero; auto). clear. induction ps; cbn; [reflexivity|]. unfold Rsum in *. cbn. lra.
Qed.

(** A count in a finer unit is exact. *)
Lemma finer_unit m n u u' : (u' <= u)%Z -> IZR (round_div m n (u' - u)) * bp u' = IZR n * bp u.
Proof. intros H. rewrite round_div_fix. destruct (scaled_multiple n u u' H) as [k ->]. apply fix_multiple. Qed.

(** Two sums, the smaller of which is rounded down once more: a unit. *)
Lemma sides_near r f L x y A B S T : down_bits r = f -> near_partial f x L A S -> near_partial f y L B T -> near_partial f (sum_of_sides r x y) (L + 1) (A + B) (S + T).
Proof.
  intros Df [SA [L0 Hx]] [TB [_ Hy]]. pose proof (Rabs_pos S). pose proof (Rabs_pos T). pose proof (bpow_ge_0 radix2 (- f)) as F0.
  assert (W : forall e, bp (e - f) = bp (- f) * bp e) by (intros; rewrite <- bpow_plus; f_equal; lia).
  split; [eapply Rle_trans; [apply Rabs_triang|]; lra|]. split; [lra|]. unfold sum_of_sides. cbn [Design.top count Design.unit]. rewrite Df.
  assert (LA : 0 <= L * bp (- f) * A) by (repeat apply Rmult_le_pos; lra). assert (LB : 0 <= L * bp (- f) * B) by (repeat apply Rmult_le_pos; lra).
  destruct (Design.top x) as [e|], (Design.top y) as [g|]; cbn [omax].
  - destruct Hx as [Ux [Bx Ex]], Hy as [Uy [By Ey]]. split; [reflexivity|]. set (m := Z.max e g). rewrite Ux, Uy.
    assert (Bm : bp m <= A + B) by (unfold m; destruct (Z.max_spec e g) as [[_ ->]|[_ ->]]; lra). split; [exact Bm|].
    rewrite plus_IZR, Rmult_plus_distr_r.
    set (a := IZR (round_div RD (count x) (m - f - (e - f))) * bp (m - f)). set (b := IZR (round_div RD (count y) (m - f - (g - f))) * bp (m - f)).
    assert (Ab : Rabs (a - IZR (count x) * bp (e - f)) + Rabs (b - IZR (count y) * bp (g - f)) <= bp (m - f)).
    { pose proof (round_div_loss RD (count x) (e - f) (m - f)) as X1. pose proof (round_div_loss RD (count y) (g - f) (m - f)) as Y1. fold a in X1. fold b in Y1.
      destruct (Z.max_spec e g) as [[h M]|[h M]].
      - assert (Eb : b = IZR (count y) * bp (g - f)) by (unfold b; apply finer_unit; unfold m; lia). rewrite Eb, Rminus_eq_0, Rabs_R0. lra.
      - assert (Ea : a = IZR (count x) * bp (e - f)) by (unfold a; apply finer_unit; unfold m; lia). rewrite Ea, Rminus_eq_0, Rabs_R0. lra. }
    replace (a + b - (S + T)) with ((a - IZR (count x) * bp (e - f)) + (b - IZR (count y) * bp (g - f)) +
      ((IZR (count x) * bp (e - f) - S) + (IZR (count y) * bp (g - f) - T))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat; apply Rabs_triang|]. rewrite (W m) in Ab.
    pose proof (Rmult_le_compat_l _ _ _ F0 Bm). lra.
  - destruct Hx as [Ux [Bx Ex]], Hy as [Cy T0]. split; [reflexivity|]. split; [lra|]. rewrite Ux, Cy, round_div_0, Z.add_0_r, T0, Rplus_0_r.
    rewrite finer_unit by lia. pose proof (bpow_ge_0 radix2 e). assert (0 <= bp (- f) * (A + B)) by (apply Rmult_le_pos; lra). lra.
  - destruct Hx as [Cx S0], Hy as [Uy [By Ey]]. split; [reflexivity|]. split; [lra|]. rewrite Uy, Cx, round_div_0, Z.add_0_l, S0, Rplus_0_l.
    rewrite finer_unit by lia. assert (0 <= bp (- f) * (A + B)) by (apply Rmult_le_pos; lra). lra.
  - destruct Hx as [Cx S0], Hy as [Cy T0]. rewrite Cx, Cy, !round_div_0. split; [reflexivity|lra].
Qed.

(** What is known of c of every block: cut at its own exponent it stays as it is, and that is the exponent of its leading bit, or at
    most e0. *)
Definition aligned_c (f e0 : Z) (x : num) : Prop := settled f x /\ (bp (exp x) <= Rabs (V x) \/ (exp x <= e0)%Z) /\ Rabs (V x) < bp (exp x + 1).

(** Bits of the sum with c below its exponent, as it is aligned; what the last roundings leave of a number. *)
Definition joint_bits (r : round_down) : Z := (sum_bits r + (if cut_again r then 1 else 0))%Z.
Definition last_growth (r : round_down) : R := (1 + share (out (products_sum r))) * (1 + (if cut_again r then bp (- sum_bits r) else 0)).

Lemma last_growth_ge r : 1 <= last_growth r.
Proof.
  unfold last_growth. pose proof (share_pos (out (products_sum r))). pose proof (bpow_ge_0 radix2 (- sum_bits r)). destruct (cut_again r); nra.
Qed.

(** c added: a unit of the products' alignment where c is cut, and one of the wider sum where they are. *)
Lemma add_c_near r f e0 x c z L A S : plain (out (products_sum r)) = true -> fraction_bits (products_sum r) = Some f -> (0 <= f <= sum_bits r)%Z ->
  near_partial f x L A S -> aligned_c f e0 c -> add_c r x c = Num z ->
  let own := L + (if is_zero c then 0 else 1) in
  exists y, Rabs (y - (S + V c)) <= own * bp (- f) * A + bp (- joint_bits r) * Rabs (V c) + bp (e0 - joint_bits r) /\
    Rabs (V z - y) <= (last_growth r - 1) * (Rabs y + bp (emin (out (products_sum r)))).
Proof.
  intros P Fb Bd [SA [L0 Hx]] [Sc [Bc Hc]] H own. unfold add_c in H. unfold down_bits in H. rewrite Fb in H. set (o := out (products_sum r)) in *.
  pose proof (plain_p _ P) as Pp. change (sum_bits r + (if cut_again r then 1 else 0))%Z with (joint_bits r) in H. set (J := joint_bits r) in *.
  assert (JF : (f <= J)%Z) by (unfold J, joint_bits; destruct (cut_again r); lia).
  set (e := match Design.top x with Some e => Z.max e (exp c) | None => exp c end) in *. set (u1 := (e - J)%Z) in *. set (u2 := (e - f)%Z) in *.
  set (a := round_div (sum_mode r) (count x) (u1 - Design.unit x)) in *.
  set (b := if two_sums r && (exp c <? u2 - 1)%Z then 0%Z else cut (sum_mode r) u2 c) in *.
  set (n := (a + b * 2 ^ (u2 - u1))%Z) in *. set (y := IZR n * bp u1).
  assert (En : y = IZR a * bp u1 + IZR b * bp u2).
  { unfold y, n. rewrite plus_IZR, mult_IZR, <- bp_Z by (unfold u1, u2; lia). rewrite Rmult_plus_distr_r, Rmult_assoc, <- bpow_plus. do 3 f_equal. lia. }
  exists y. split.
  - (* what the alignment with c loses *)
    assert (F0 := bpow_ge_0 radix2 (- f)). assert (J0 := bpow_ge_0 radix2 (- J)). pose proof (bpow_ge_0 radix2 (e0 - J)) as E0. pose proof (Rabs_pos (V c)) as C0. pose proof (Rabs_pos S) as S0.
    assert (Own : 0 <= own) by (unfold own; destruct (is_zero c); lra).
    assert (T0 : 0 <= own * bp (- f) * A) by (apply Rmult_le_pos; [now apply Rmult_le_pos|lra]).
    assert (Exact : forall m, (exp c - f <= u2)%Z -> u2 = (exp c - f)%Z -> IZR (cut m u2 c) * bp u2 = V c).
    { intros m _ ->. rewrite cut_ok. unfold fix_rnd. apply round_generic; auto with typeclass_instances. }
    assert (Kept : u2 = (exp c - f)%Z -> IZR b * bp u2 = V c).
    { intros Q. unfold b. replace (exp c <? u2 - 1)%Z with false by (symmetry; apply Z.ltb_ge; lia). rewrite andb_false_r. apply Exact; lia. }
    assert (JB : 0 <= bp (- J) * Rabs (V c)) by now apply Rmult_le_pos.
    destruct (Design.top x) as [t|] eqn:Tx.
    + destruct Hx as [Ux [Bx Ex]]. rewrite En. destruct (Z_le_gt_dec (exp c) t) as [h|h].
      * (* the products are aligned as they are *)
        assert (Ee : e = t) by (unfold e; lia). assert (Ea : IZR a * bp u1 = IZR (count x) * bp (t - f)) by (unfold a; rewrite <- Ux; apply finer_unit; unfold u1; lia).
        assert (Lc : Rabs (IZR b * bp u2 - V c) <= (if is_zero c then 0 else 1) * bp (- f) * A).
        { destruct (is_zero c) eqn:Zc.
          - assert (B0 : b = 0%Z) by (unfold b; rewrite cut_zero by exact Zc; now destruct (_ && _)). rewrite B0, V_zero by exact Zc. rewrite !Rmult_0_l, Rminus_0_r, Rabs_R0. lra.
          - apply Rle_trans with (bp u2).
            + unfold b. destruct (two_sums r && (exp c <? u2 - 1)%Z) eqn:Q; [|apply Rlt_le, cut_loss]. apply andb_prop in Q. destruct Q as [_ Q]. apply Z.ltb_lt in Q.
              rewrite Rmult_0_l. replace (0 - V c) with (- V c) by ring. rewrite Rabs_Ropp. apply Rlt_le. eapply Rlt_le_trans; [exact Hc|]. apply bpow_le. lia.
            + unfold u2. rewrite Ee. replace (bp (t - f)) with (bp (- f) * bp t) by (rewrite <- bpow_plus; f_equal; lia). rewrite Rmult_1_l. now apply Rmult_le_compat_l. }
        rewrite Ea. replace (IZR (count x) * bp (t - f) + IZR b * bp u2 - (S + V c)) with ((IZR (count x) * bp (t - f) - S) + (IZR b * bp u2 - V c)) by ring.
        eapply Rle_trans; [apply Rabs_triang|]. unfold own. rewrite !Rmult_plus_distr_r. lra.
      * assert (Ee : e = exp c) by (unfold e; lia). rewrite (Kept ltac:(unfold u2; lia)).
        pose proof (round_div_loss (sum_mode r) (count x) (Design.unit x) u1) as La. fold a in La. rewrite Ux in La.
        assert (Bu : bp u1 <= bp (- J) * Rabs (V c) + bp (e0 - J)).
        { unfold u1. rewrite Ee. destruct Bc as [Bc|Bc].
          - replace (bp (exp c - J)) with (bp (- J) * bp (exp c)) by (rewrite <- bpow_plus; f_equal; lia). pose proof (Rmult_le_compat_l _ _ _ J0 Bc). lra.
          - assert (bp (exp c - J) <= bp (e0 - J)) by (apply bpow_le; lia). lra. }
        assert (Lown : L * bp (- f) * A <= own * bp (- f) * A).
        { apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; [exact F0|]. unfold own. destruct (is_zero c); lra. }
        replace (IZR a * bp u1 + V c - (S + V c)) with ((IZR a * bp u1 - IZR (count x) * bp (t - f)) + (IZR (count x) * bp (t - f) - S)) by ring.
        eapply Rle_trans; [apply Rabs_triang|]. lra.
    + destruct Hx as [Cx Sx]. assert (Ea : a = 0%Z) by (unfold a; rewrite Cx; apply round_div_0).
      rewrite En, Ea, (Kept ltac:(unfold u2, e; lia)), Sx. replace (0 * bp u1 + V c - (0 + V c)) with 0 by ring. rewrite Rabs_R0. lra.
  - (* the last roundings *)
    pose proof (share_pos o) as Sh. pose proof (bpow_ge_0 radix2 (emin o)) as B0. pose proof (Rabs_pos y) as Y0. unfold last_growth. fold o.
    destruct (cut_again r).
    + set (u3 := (Z.max (Z.log2 (Z.abs n) + u1) (emin o) - sum_bits r)%Z) in *. pose proof (cut_again_loss (sum_mode r) (sum_bits r) (emin o) n u1) as B3. cbv zeta in B3. fold u3 y in B3.
      set (m3 := round_div (sum_mode r) n (u3 - u1)) in *. pose proof (convert_num _ _ _ _ _ P H) as Vz. pose proof (rounding_loss o (IZR m3 * bp u3) Pp) as R. rewrite <- Vz in R.
      set (w := IZR m3 * bp u3) in *. set (g := bp (- sum_bits r)) in *. assert (g0 : 0 <= g) by apply bpow_ge_0.
      assert (Wy : Rabs w <= Rabs y + g * (Rabs y + bp (emin o))). { replace w with (y + (w - y)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
      replace (V z - y) with ((V z - w) + (w - y)) by ring. eapply Rle_trans; [apply Rabs_triang|]. pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ Sh) Wy). nra.
    + pose proof (convert_num _ _ _ _ _ P H) as Vz. fold y in Vz. pose proof (rounding_loss o y Pp) as R. rewrite <- Vz in R. nra.
Qed.

(** Units of the largest product that n products lose, each [lam] of one. *)
Definition lost_units (r : round_down) (lam : R) (n : Z) : R :=
  if two_sums r then lam * IZR (Z.max ((n + 1) / 2 - 1) 0) + 1 else lam * IZR (Z.max (n - 1) 0).

Definition fine_product (r : round_down) (f : Z) (lam : R) (y : num) : Prop :=
  settled f y /\ normal y /\ forall u, loss (alignment (products_sum r)) u y <= lam * bp u.

Lemma second_length {A} (l : list A) : length (every_second l) = ((length l + 1) / 2)%nat.
Proof.
  assert (G : forall n (l : list A), (length l <= n)%nat -> length (every_second l) = ((length l + 1) / 2)%nat).
  { induction n as [|n IH]; intros m Lm; destruct m as [|a [|b m]]; auto; cbn [length] in Lm; try lia. cbn [every_second length]. rewrite IH by lia.
    replace (S (S (length m)) + 1)%nat with (length m + 1 + 1 * 2)%nat by lia. rewrite Nat.div_add by lia. lia. }
  eapply G; eauto.
Qed.

Lemma products_near r f lam n ps : fraction_bits (products_sum r) = Some f -> carry_bits (products_sum r) = None -> normalise (products_sum r) = false ->
  zero_exponent (products_sum r) = ZeroNone -> 0 <= lam -> (Z.of_nat (length ps) <= n)%Z -> Forall (fine_product r f lam) ps ->
  near_partial f (if two_sums r && (1 <? Z.of_nat (length ps))%Z then sum_of_sides r (truncated r (evens ps)) (truncated r (odds ps)) else truncated r ps)
    (lost_units r lam n) (magnitude ps) (exact_sum ps).
Proof.
  intros F K Nn Ze La Ln Fp. assert (T : forall qs, (forall y, In y qs -> In y ps) -> forall k, (Z.of_nat (length qs) <= k)%Z ->
    near_partial f (truncated r qs) (lam * IZR (Z.max (k - 1) 0)) (magnitude qs) (exact_sum qs)).
  { intros qs Hq k Hk. eapply near_more; [|apply (truncated_near r f lam qs F K Nn Ze La)].
    - apply Rmult_le_compat_l; [exact La|]. apply IZR_le. lia.
    - apply Forall_forall. intros y Hy. rewrite Forall_forall in Fp. apply Fp. auto. }
  assert (Half : forall m : nat, Z.of_nat ((m + 1) / 2) = ((Z.of_nat m + 1) / 2)%Z) by (intros m; rewrite Nat2Z.inj_div, Nat2Z.inj_add; reflexivity).
  assert (Le : forall a b, (a <= b -> (a + 1) / 2 <= (b + 1) / 2)%Z) by (intros; apply Z.div_le_mono; lia).
  unfold lost_units. destruct (two_sums r); cbn [andb]; [|apply T; auto].
  destruct (Z.ltb_spec 1 (Z.of_nat (length ps))) as [h|h].
  - unfold magnitude, exact_sum. rewrite <- (sides_sum V), <- (sides_sum (fun x => Rabs (V x))). apply sides_near; [unfold down_bits; now rewrite F| |].
    + apply T; [intros y; apply second_in|]. unfold evens. rewrite second_length, Half. now apply Le.
    + apply T; [intros y; apply odds_in|]. unfold odds. rewrite second_length, Half. apply Le. destruct ps; cbn [tl length] in *; lia.
  - eapply near_more; [|apply (T ps (fun _ H => H) 1%Z); lia]. change (Z.max (1 - 1) 0) with 0%Z.
    assert (0 <= lam * IZR (Z.max ((n + 1) / 2 - 1) 0)) by (apply Rmult_le_pos; [exact La|apply IZR_le; lia]). lra.
Qed.

(** What a block loses of its products and of c, and beside. *)
Definition own_loss (r : round_down) (f : Z) (units : R) : R := (1 + units * bp (- f)) * last_growth r - 1.
Definition c_loss (r : round_down) : R := (1 + bp (- joint_bits r)) * last_growth r - 1.
Definition tiny_loss (r : round_down) (e0 : Z) : R :=
  last_growth r * bp (e0 - joint_bits r) + (last_growth r - 1) * bp (emin (out (products_sum r))).

Lemma tiny_loss_pos r e0 : 0 <= tiny_loss r e0.
Proof.
  unfold tiny_loss. pose proof (last_growth_ge r). pose proof (bpow_ge_0 radix2 (e0 - joint_bits r)). pose proof (bpow_ge_0 radix2 (emin (out (products_sum r)))). nra.
Qed.

Theorem down_block_loss r f e0 lam n ps c z : plain (out (products_sum r)) = true -> fraction_bits (products_sum r) = Some f ->
  carry_bits (products_sum r) = None -> normalise (products_sum r) = false -> zero_exponent (products_sum r) = ZeroNone -> (0 <= f <= sum_bits r)%Z ->
  0 <= lam -> (Z.of_nat (length ps) <= n)%Z -> Forall (fine_product r f lam) ps -> aligned_c f e0 c -> round_down_sum r ps c = Num z ->
  Rabs (V z - (V c + exact_sum ps)) <= c_loss r * Rabs (V c) +
    own_loss r f (lost_units r lam n + (if is_zero c then 0 else 1)) * magnitude ps + tiny_loss r e0.
Proof.
  intros P F K Nn Ze Bd La Ln Fp Rc H. unfold round_down_sum in H. pose proof (products_near r f lam n ps F K Nn Ze La Ln Fp) as N. pose proof N as [SA _].
  destruct (add_c_near r f e0 _ c z _ _ _ P F Bd N Rc H) as [y [Y1 Y2]]. set (A := magnitude ps) in *. set (S := exact_sum ps) in *.
  set (k := lost_units r lam n + (if is_zero c then 0 else 1)) in *. unfold own_loss, c_loss, tiny_loss. set (q := last_growth r) in *.
  assert (q1 : 1 <= q) by apply last_growth_ge. pose proof (bpow_ge_0 radix2 (emin (out (products_sum r)))).
  set (D := k * bp (- f) * A + bp (- joint_bits r) * Rabs (V c) + bp (e0 - joint_bits r)) in *.
  assert (Ya : Rabs y <= A + Rabs (V c) + D).
  { replace y with ((y - (S + V c)) + (S + V c)) by ring. eapply Rle_trans; [apply Rabs_triang|]. pose proof (Rabs_triang S (V c)). lra. }
  replace (V z - (V c + S)) with ((V z - y) + (y - (S + V c))) by ring. eapply Rle_trans; [apply Rabs_triang|].
  assert (Q : (q - 1) * (Rabs y + bp (emin (out (products_sum r)))) <= (q - 1) * (A + Rabs (V c) + D + bp (emin (out (products_sum r))))) by (apply Rmult_le_compat_l; lra).
  unfold D in *. nra.
Qed.

(** * Chains of blocks, from words *)

(** What a block loses in fixed point, products [lam] 4096ths of a unit each: of its products from c = 0 and beside any c, and of that. *)
Definition down_losses (d : design) (lam : Z) : option (Z * Z * Z) :=
  match sums d, term_facts d with
  | RoundedDown r, Some t =>
      let s := products_sum r in
      let low := (p (out s) + near_share (out s))%Z in
      match fraction_bits s, zero_exponent s, carry_bits s with
      | Some f, ZeroNone, None =>
          if plain (out s) && negb (normalise s) && (0 <=? bits t)%Z && (bits t <=? f)%Z && (p (out s) <=? f)%Z && (f <=? sum_bits r)%Z &&
             (emin (out s) <=? emax (out s))%Z && format_ok (start_format d) && (fbits (start_format d) <=? f)%Z && (0 <? Z.of_nat (block d))%Z &&
             share_ok d (alignment s) lam && (0 <=? lam)%Z && match cutting_of d, c_rule d with Whole, Kept => true | _, _ => false end && negb (skips d) &&
             (low <=? width)%Z && (f + 12 <=? width)%Z && (joint_bits r <=? width)%Z
          then
            let again := if cut_again r then up ((one + 2 ^ (width - low)) * (one + 2 ^ (width - sum_bits r))) width else (one + 2 ^ (width - low))%Z in
            let n := Z.of_nat (block d) in
            let units := (if two_sums r then lam * Z.max ((n + 1) / 2 - 1) 0 + 4096 else lam * Z.max (n - 1) 0)%Z in
            let lost x := (up ((one + x) * again) width - one)%Z in
            Some (lost (units * 2 ^ (width - (f + 12)))%Z, lost ((units + 4096) * 2 ^ (width - (f + 12)))%Z, lost (2 ^ (width - joint_bits r))%Z)
          else None
      | _, _, _ => None
      end
  | _, _ => None
  end.

(** The largest exponent of a c without a leading bit, and what is lost beside one, or beside subnormal results. *)
Definition down_floor (d : design) : Z := match sums d with RoundedDown r => Z.max (emin (out (products_sum r))) (least (start_format d)) | _ => 0%Z end.
Definition down_tiny (d : design) : R := match sums d with RoundedDown r => tiny_loss r (down_floor d) | _ => 0 end.
Definition down_bits_of (d : design) : Z := match sums d with RoundedDown r => down_bits r | _ => 0%Z end.

Lemma some_triple (a b c x y z : Z) : Some (a, b, c) = Some (x, y, z) -> x = a /\ y = b /\ z = c.
Proof. intros H. now injection H. Qed.

Section Design.
Variables (d : design) (lam k1 k kc : Z).
Hypothesis (Lo : down_losses d lam = Some (k1, k, kc)).

Definition down_ready : num -> Prop := aligned_c (down_bits_of d) (down_floor d).

(** What the side condition says, in real numbers. *)
Lemma down_parts : exists r t f, sums d = RoundedDown r /\ term_facts d = Some t /\ fraction_bits (products_sum r) = Some f /\
  (zero_exponent (products_sum r) = ZeroNone /\ carry_bits (products_sum r) = None /\ normalise (products_sum r) = false /\ plain (out (products_sum r)) = true) /\
  (0 <= bits t <= f)%Z /\ (p (out (products_sum r)) <= f <= sum_bits r)%Z /\ (emin (out (products_sum r)) <= emax (out (products_sum r)))%Z /\
  (format_ok (start_format d) = true /\ (fbits (start_format d) <= f)%Z) /\ (0 < block d)%nat /\ (share_ok d (alignment (products_sum r)) lam = true /\ (0 <= lam)%Z) /\
  (cutting_of d = Whole /\ c_rule d = Kept /\ skips d = false) /\
  let u := lost_units r (IZR lam * / 4096) (Z.of_nat (block d)) in
  (0 <= fixed k1 /\ 0 <= fixed k /\ 0 <= fixed kc) /\ own_loss r f u <= fixed k1 /\ own_loss r f (u + 1) <= fixed k /\ c_loss r <= fixed kc.
Proof.
  unfold down_losses in Lo. destruct (sums d) as [| | | |r| | | |] eqn:S; try discriminate. destruct (term_facts d) as [t|] eqn:T; [|discriminate]. cbv zeta in Lo.
  destruct (fraction_bits (products_sum r)) as [f|] eqn:F; [|discriminate]. destruct (zero_exponent (products_sum r)) eqn:Ze; try discriminate.
  destruct (carry_bits (products_sum r)) eqn:Cb; [discriminate|]. set (o := out (products_sum r)) in *. set (low := (p o + near_share o)%Z) in *.
  match type of Lo with (if ?g then _ else _) = _ => destruct g eqn:G; [|discriminate] end. repeat rewrite andb_true_iff in G.
  destruct G as [[[[[[[[[[[[[[[[G1 G2] G3] G4] G5] G6] G7] G8] G9] G10] G11] G12] G13] G14] G15] G16] G17].
  apply negb_true_iff in G2, G14. apply Z.leb_le in G3, G4, G5, G6, G7, G9, G12, G15, G16, G17. apply Z.ltb_lt in G10.
  exists r, t, f. destruct (cutting_of d); try discriminate. destruct (c_rule d); try discriminate.
  split; [reflexivity|]. split; [reflexivity|]. split; [exact F|]. split; [auto|]. split; [lia|]. split; [fold o; lia|]. split; [fold o; lia|]. split; [auto|]. split; [lia|]. split; [auto|].
  split; [auto|].
  intros u. pose proof (plain_p _ G1) as Pp. fold o in Pp.
  set (again := if cut_again r then up ((one + 2 ^ (width - low)) * (one + 2 ^ (width - sum_bits r))) width else (one + 2 ^ (width - low))%Z) in *.
  set (n := Z.of_nat (block d)) in *. set (units := (if two_sums r then lam * Z.max ((n + 1) / 2 - 1) 0 + 4096 else lam * Z.max (n - 1) 0)%Z) in *.
  assert (Sh : 1 + share o = fixed (one + 2 ^ (width - low))) by (rewrite fix_plus, fix_one; f_equal; apply share_fixed; exact G15).
  assert (Ag : last_growth r <= fixed again).
  { unfold last_growth, again. fold o. rewrite Sh. destruct (cut_again r); [|lra]. eapply Rle_trans; [|apply fix_up]. apply Req_le. f_equal.
    rewrite fix_plus, fix_one, fix_power by (unfold joint_bits in G17; destruct (cut_again r); lia). do 2 f_equal. lia. }
  pose proof (last_growth_ge r) as R1.
  assert (Lost : forall x y, 0 <= y -> y = fixed x -> 0 <= fixed (up ((one + x) * again) width - one) /\ (1 + y) * last_growth r - 1 <= fixed (up ((one + x) * again) width - one)).
  { intros x y Y0 Yx. assert (Q : (1 + y) * last_growth r <= fixed (up ((one + x) * again) width)).
    { eapply Rle_trans; [|apply fix_up]. rewrite fix_plus, fix_one, <- Yx. apply Rmult_le_compat_l; lra. }
    assert (M : fixed (up ((one + x) * again) width - one) = fixed (up ((one + x) * again) width) - 1).
    { unfold Z.sub. rewrite fix_plus. unfold fixed at 2. rewrite opp_IZR. pose proof fix_one as F1. unfold fixed in F1. lra. }
    rewrite M. nra. }
  assert (Un : forall c, (0 <= c)%Z -> fixed (c * 2 ^ (width - (f + 12))) = IZR c * / 4096 * bp (- f)).
  { intros c C0. rewrite <- fix_times, fix_power by lia. rewrite Rmult_assoc. f_equal. replace (/ 4096) with (bp (-12)) by (cbn; lra). rewrite <- bpow_plus. f_equal. lia. }
  assert (Uq : u = IZR units * / 4096).
  { unfold u, lost_units, units. destruct (two_sums r); rewrite ?plus_IZR, ?mult_IZR; field. }
  assert (U0 : (0 <= units)%Z) by (unfold units; assert (0 <= lam * Z.max ((n + 1) / 2 - 1) 0)%Z by (apply Z.mul_nonneg_nonneg; lia);
    assert (0 <= lam * Z.max (n - 1) 0)%Z by (apply Z.mul_nonneg_nonneg; lia); destruct (two_sums r); lia).
  pose proof (bpow_ge_0 radix2 (- f)) as F0. pose proof (IZR_le _ _ U0) as U0'.
  destruct (Lost (units * 2 ^ (width - (f + 12)))%Z (u * bp (- f))) as [A1 A2].
  { rewrite Uq. apply Rmult_le_pos; [lra|exact F0]. } { rewrite Un by exact U0. now rewrite Uq. }
  destruct (Lost ((units + 4096) * 2 ^ (width - (f + 12)))%Z ((u + 1) * bp (- f))) as [B1 B2].
  { rewrite Uq. apply Rmult_le_pos; [lra|exact F0]. } { rewrite Un by lia. rewrite Uq, plus_IZR. field. }
  destruct (Lost (2 ^ (width - joint_bits r))%Z (bp (- joint_bits r))) as [C1 C2].
  { apply bpow_ge_0. } { rewrite fix_power by lia. f_equal. lia. }
  destruct (some_triple _ _ _ _ _ _ Lo) as [-> [-> ->]]. unfold own_loss, c_loss. auto.
Qed.

Lemma ready_result r s n u z : sums d = RoundedDown r -> plain (out (products_sum r)) = true -> (p (out (products_sum r)) <= down_bits r)%Z ->
  (emin (out (products_sum r)) <= emax (out (products_sum r)))%Z -> convert (out (products_sum r)) s n u = Num z -> down_ready z.
Proof.
  intros S P Pf M H. set (o := out (products_sum r)) in *. pose proof (plain_p _ P) as Pp. unfold down_ready, down_bits_of, down_floor. rewrite S. fold o.
  destruct (result_fit (products_sum r) (down_bits r) (Z.max (emin o) (least (start_format d))) (emin o) s n u z P Pf M ltac:(fold o; lia) ltac:(fold o; lia) H) as [A [B _]].
  destruct (convert_shape _ _ _ _ _ Pp M H) as [_ Sh]. split; [exact A|]. split.
  - destruct (is_zero z) eqn:Z0; [right|now apply B]. unfold is_zero in Z0. apply Z.eqb_eq in Z0. pose proof (Z.pow_pos_nonneg 2 (p o) ltac:(lia) Pp). pose proof (Z.pow_pos_nonneg 2 (p o + 1) ltac:(lia) ltac:(lia)).
    destruct Sh as [[_ [_ [E|E]]]|[_ E]]; lia.
  - exact (fits_below _ _ Pp (convert_fits o s n u z (p o) Pp (Z.le_refl _) H)).
Qed.

Lemma down_stays v b : is_num v = false -> is_num (block_value d v b) = false.
Proof.
  intros N. destruct down_parts as (r & t & f & S & T & F & (Ze & Cb & Nn & P) & Bt & Pf & M & (Of & Fs) & Bn & (Sh & L0) & (Cw & Kr & Sk) & (P1 & P2 & Pc) & K1 & K2 & Kc).
  rewrite (down_value d r), taken_kept, Kr, flush_kept by (auto; eapply term_facts_zero; eauto). unfold on_numbers. replace (numbers (block_products d b ++ [v])) with (@None (list num)).
  - destruct (special_sum _) eqn:E; auto. exfalso. now apply (special_not_num _ x E).
  - symmetry. unfold numbers. rewrite forallb_app. cbn [forallb]. now rewrite N, !andb_false_r.
Qed.

(** One block. *)
Lemma down_step b x z : (block_ok d) b -> down_ready x -> block_value d (Num x) b = Num z ->
  down_ready z /\
  Rabs (V z - (V x + Rsum (map (term_value d) b))) <= fixed kc * Rabs (V x) + fixed k * Rsum (map (fun e => Rabs (term_value d e)) b) + down_tiny d /\
  (is_zero x = true -> Rabs (V z - Rsum (map (term_value d) b)) <= fixed k1 * Rsum (map (fun e => Rabs (term_value d e)) b) + down_tiny d).
Proof.
  intros [Lb [Mb Lead]] Rx E. destruct down_parts as (r & t & f & S & T & F & (Ze & Cb & Nn & P) & Bt & Pf & M & (Of & Fs) & Bn & (Sh & L0) & (Cw & Kr & Sk) & (P1 & P2 & Pc) & K1 & K2 & Kc).
  assert (Df : down_bits r = f) by (unfold down_bits; now rewrite F).
  rewrite (down_value d r), taken_kept, Kr, flush_kept in E by (auto; eapply term_facts_zero; eauto). unfold on_numbers in E.
  destruct (numbers (block_products d b ++ [Num x])) as [ts|] eqn:N; [|exfalso; now apply (special_not_num _ _ E)].
  destruct (numbers_app _ _ _ N) as [us [x' [-> [Ex Eu]]]]. injection Ex as <-. rewrite Eu, map_map in E. cbn [num_of] in E. rewrite map_id in E.
  assert (Z1 : down_ready z).
  { unfold round_down_sum in E. match type of E with add_c _ ?q _ = _ => destruct (add_c_convert r q x) as [s [n [u [Q _]]]]; rewrite Q in E end. eapply ready_result; eauto. lia. }
  split; [exact Z1|]. unfold block_products in Eu. change (map (term d) (ordered d b) = map Num us) in Eu.
  assert (Lo' : length (ordered d b) = length b) by (unfold ordered; destruct (odd_first d); rewrite ?swapped_length; auto).
  assert (Lu : length us = length b) by (rewrite <- (map_length Num us), <- Eu, map_length; exact Lo').
  assert (Fu : Forall (fine_product r f (IZR lam * / 4096)) us).
  { apply Forall_forall. intros y Hy. assert (I : In (Num y) (map (term d) (ordered d b))) by (rewrite Eu; now apply in_map).
    apply in_map_iff in I. destruct I as [e [Ee He]]. assert (Hb : In e b) by (unfold ordered in He; destruct (odd_first d); auto; now apply swapped_incl).
    rewrite Forall_forall in Mb, Lead.
    destruct (term_fit d t f (low t) lam (alignment (products_sum r)) e T (Mb e Hb) (Lead e Hb) ltac:(lia) ltac:(lia) ltac:(lia) Sh y Ee) as [A1 [A2 [_ A3]]]. repeat split; auto. }
  unfold down_ready, down_bits_of, down_tiny in *. rewrite S, Df in *.
  assert (La : 0 <= IZR lam * / 4096) by (apply IZR_le in L0; lra).
  pose proof (down_block_loss r f (down_floor d) (IZR lam * / 4096) (Z.of_nat (block d)) us x z P F Cb Nn Ze ltac:(lia) La ltac:(lia) Fu Rx E) as B.
  assert (Or : forall g : element -> R, Rsum (map g (ordered d b)) = Rsum (map g b)) by (intros g; unfold ordered; destruct (odd_first d); auto; apply swapped_sum).
  assert (E1 : exact_sum us = Rsum (map (term_value d) b)).
  { rewrite <- Or. unfold exact_sum, term_value. rewrite <- (map_map (term d) (fun v => V (num_of v))), Eu, map_map. reflexivity. }
  assert (E2 : magnitude us = Rsum (map (fun e => Rabs (term_value d e)) b)).
  { rewrite <- Or. unfold magnitude, term_value. rewrite <- (map_map (term d) (fun v => Rabs (V (num_of v)))), Eu, map_map. reflexivity. }
  rewrite E1, E2 in B. set (A := Rsum (map (fun e => Rabs (term_value d e)) b)) in *.
  assert (A0 : 0 <= A) by (apply Rsum_nonneg; intros; apply Rabs_pos). pose proof (Rabs_pos (V x)) as X0.
  pose proof (Rmult_le_compat_r _ _ _ A0 K1). pose proof (Rmult_le_compat_r _ _ _ A0 K2). pose proof (Rmult_le_compat_r _ _ _ X0 Kc).
  pose proof (last_growth_ge r). pose proof (bpow_ge_0 radix2 (- f)).
  destruct (is_zero x) eqn:Zx.
  - rewrite Rplus_0_r in B. assert (V0 : V x = 0) by now apply V_zero. rewrite V0 in *. rewrite Rabs_R0, !Rmult_0_r, Rplus_0_l in *.
    assert (B' : Rabs (V z - Rsum (map (term_value d) b)) <= fixed k1 * A + tiny_loss r (down_floor d)) by lra. split; [|intros _; exact B']. rewrite Rplus_0_l.
    rewrite Rplus_0_l in B. eapply Rle_trans; [exact B|]. apply Rplus_le_compat_r. apply Rle_trans with (own_loss r f (lost_units r (IZR lam * / 4096) (Z.of_nat (block d)) + 1) * A); [|lra].
    apply Rmult_le_compat_r; [exact A0|]. unfold own_loss. nra.
  - split; [lra|intros Q; discriminate Q].
Qed.

Lemma start_down w x : decode (start_format d) w = Num x -> down_ready x.
Proof.
  intros D. destruct down_parts as (r & t & f & S & T & F & (Ze & Cb & Nn & P) & Bt & Pf & M & (Of & Fs) & Bn & (Sh & L0) & (Cw & Kr & Sk) & (P1 & P2 & Pc) & K1 & K2 & Kc). unfold down_ready, down_bits_of, down_floor, down_bits. rewrite S, F.
  destruct (decode_num _ _ _ Of D) as [A [B [_ E]]]. pose proof (format_bits _ Of) as F0. split; [apply short_settled; lia|].
  split; [|exact (fits_below _ _ F0 (decode_fits _ w x (fbits (start_format d)) Of (Z.le_refl _) D))].
  destruct E as [E|E]; [left|right; lia].
  assert (Va : Rabs (V x) = IZR (sig x) * bp (exp x - fbits (start_format d))) by (rewrite V_abs, <- abs_IZR, Z.abs_eq by lia; unfold lsb; now rewrite B). rewrite Va.
  replace (exp x) with (fbits (start_format d) + (exp x - fbits (start_format d)))%Z at 1 by lia. rewrite bpow_plus, bp_Z by lia.
  apply Rmult_le_compat_r; [apply bpow_ge_0|now apply IZR_le].
Qed.

Lemma down_blocks w : Forall (leading_element d) (elements d w) -> Forall (block_ok d) (blocks_of_word d w) /\ concat (blocks_of_word d w) = elements d w.
Proof.
  intros Le. destruct down_parts as (r & t & f & S & T & F & (Ze & Cb & Nn & P) & Bt & Pf & M & (Of & Fs) & Bn & (Sh & L0) & (Cw & Kr & Sk) & (P1 & P2 & Pc) & K1 & K2 & Kc). now apply leading_blocks.
Qed.

(** The error of a dot product of any length, [k0] a constant of the first block that is at least those of all. *)
Theorem down_error k0 w x z : (k <= k0)%Z -> (kc <= k0)%Z -> composed d = None -> pairs w <> [] -> Forall (leading_element d) (elements d w) ->
  decode (c_format d) (c_word w) = Num x -> value d w = Num z ->
  let m := Nat.pred (length (blocks_of_word d w)) in
  Rabs (V z - (V x + Rsum (map (term_value d) (elements d w)))) <=
    ((1 + fixed k0) * (1 + fixed kc) ^ m - 1) * (Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) (elements d w))) +
    ((1 + fixed kc) ^ m * down_tiny d + down_tiny d * geometric (fixed kc) m).
Proof.
  intros Kk Kkc Co Np Le Dc Vz m. destruct (down_blocks w Le) as [F Cc]. unfold value in Vz. rewrite Co, Dc in Vz. change (in_turn d (blocks_of_word d w) (Num x) = Num z) in Vz.
  pose proof (start_down (c_word w) x) as Rx. unfold start_format in Rx. rewrite Co in Rx. specialize (Rx Dc).
  destruct down_parts as (r & t & f & S & T & Fr & (Ze & Cb & Nn & P) & Bt & Pf & Em & (Of & Fs) & Bn & (Sh & L0) & (Cw & Kr & Sk) & (P1 & P2 & Pc) & K1 & K2 & Kc). apply fix_le in Kk, Kkc.
  assert (T0 : 0 <= down_tiny d) by (unfold down_tiny; rewrite S; apply tiny_loss_pos).
  rewrite <- Cc. revert F Vz. unfold m. destruct (blocks_of_word d w) as [|b bs] eqn:Q.
  { exfalso. assert (Ne : elements d w = []) by (rewrite <- Cc; reflexivity). pose proof (elements_length d w) as L. rewrite Ne in L. destruct (pairs w); [congruence|discriminate L]. }
  intros F Vz. cbn [length Nat.pred].
  apply (blocks_grow_after d (term_value d) (block_ok d) down_ready (fixed k) (fixed kc) (down_tiny d) Pc T0 (fun b x z B X E => let '(conj A (conj H _)) := down_step b x z B X E in conj A H)
    (fun v b _ => down_stays v b) b bs x z (V x) (Rabs (V x)) (fixed k0) (down_tiny d)); auto; try lra.
  - nra.
  - intros y Hy. apply Forall_cons_iff in F. destruct F as [Fb _]. destruct (down_step b x y Fb Rx Hy) as [A [B _]]. split; [exact A|]. pose proof (Rabs_pos (V x)) as X0.
    assert (A0 : 0 <= Rsum (map (fun e => Rabs (term_value d e)) b)) by (apply Rsum_nonneg; intros; apply Rabs_pos).
    pose proof (Rmult_le_compat_r _ _ _ A0 Kk). pose proof (Rmult_le_compat_r _ _ _ X0 Kkc). lra.
Qed.

(** From c = 0. *)
Theorem down_error_from_zero k0 w x z : (k1 <= k0)%Z -> enough k0 (k, kc, 0%Z) = true -> composed d = None -> pairs w <> [] -> Forall (leading_element d) (elements d w) ->
  decode (c_format d) (c_word w) = Num x -> is_zero x = true -> value d w = Num z ->
  let m := Nat.pred (length (blocks_of_word d w)) in
  Rabs (V z - Rsum (map (term_value d) (elements d w))) <=
    ((1 + fixed k0) * (1 + fixed kc) ^ m - 1) * Rsum (map (fun e => Rabs (term_value d e)) (elements d w)) +
    ((1 + fixed kc) ^ m * down_tiny d + down_tiny d * geometric (fixed kc) m).
Proof.
  intros Kk En Co Np Le Dc Zx Vz m. destruct (down_blocks w Le) as [F Cc]. unfold value in Vz. rewrite Co, Dc in Vz. change (in_turn d (blocks_of_word d w) (Num x) = Num z) in Vz.
  pose proof (start_down (c_word w) x) as Rx. unfold start_format in Rx. rewrite Co in Rx. specialize (Rx Dc). pose proof (enough_grows k0 k kc 0%Z En) as Kg.
  destruct down_parts as (r & t & f & S & T & Fr & (Ze & Cb & Nn & P) & Bt & Pf & Em & (Of & Fs) & Bn & (Sh & L0) & (Cw & Kr & Sk) & (P1 & P2 & Pc) & K1 & K2 & Kc). apply fix_le in Kk.
  assert (T0 : 0 <= down_tiny d) by (unfold down_tiny; rewrite S; apply tiny_loss_pos).
  rewrite <- Cc. revert F Vz. unfold m. destruct (blocks_of_word d w) as [|b bs] eqn:Q.
  { exfalso. assert (Ne : elements d w = []) by (rewrite <- Cc; reflexivity). pose proof (elements_length d w) as L. rewrite Ne in L. destruct (pairs w); [congruence|discriminate L]. }
  intros F Vz. cbn [length Nat.pred].
  pose proof (blocks_grow_after d (term_value d) (block_ok d) down_ready (fixed k) (fixed kc) (down_tiny d) Pc T0 (fun b x z B X E => let '(conj A (conj H _)) := down_step b x z B X E in conj A H)
    (fun v b _ => down_stays v b) b bs x z 0 0 (fixed k0) (down_tiny d) ltac:(lra) T0 Kg F) as G.
  rewrite Rabs_R0, !Rplus_0_l in G. apply G; auto; [lra|].
  intros y Hy. apply Forall_cons_iff in F. destruct F as [Fb _]. destruct (down_step b x y Fb Rx Hy) as [A [_ B]]. split; [exact A|].
  assert (A0 : 0 <= Rsum (map (fun e => Rabs (term_value d e)) b)) by (apply Rsum_nonneg; intros; apply Rabs_pos).
  pose proof (Rmult_le_compat_r _ _ _ A0 Kk). specialize (B Zx). lra.
Qed.
End Design.
