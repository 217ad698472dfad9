(** Sums that are rounded down are symmetric under negation from c = 0, where no product is far below the exponent of that zero: then
    nothing is rounded down. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Signs Again DownAgain Losses Accumulated Down DownChains.
Import ListNotations.
Open Scope Z_scope.

(** * One block *)

(** A zero c added to a sum of products that the wider sum holds whole, whichever exponent is larger, changes nothing before the last
    rounding. *)
Lemma add_zero_c r f x c : fraction_bits (products_sum r) = Some f -> 0 <= f <= sum_bits r -> is_zero c = true ->
  (count x = 0 \/ exists e, Design.top x = Some e /\ Design.unit x = e - f /\ exp c + f - joint_bits r <= e /\
    (cut_again r = true -> emin (out (products_sum r)) + f - sum_bits r <= e /\ Z.log2 (Z.abs (count x)) <= sum_bits r)) ->
  exists s, add_c r x c = convert (out (products_sum r)) s (count x) (Design.unit x).
Proof.
  intros F B Zc H. unfold add_c, down_bits. rewrite F. set (o := out (products_sum r)) in *. change (sum_bits r + (if cut_again r then 1 else 0)) with (joint_bits r).
  set (e := match Design.top x with Some e => Z.max e (exp c) | None => exp c end). set (u1 := e - joint_bits r). set (u2 := e - f).
  assert (J : f <= joint_bits r) by (unfold joint_bits; destruct (cut_again r); lia).
  assert (Cz : cut (sum_mode r) u2 c = 0) by now apply cut_zero. rewrite Cz. assert (I0 : forall q : bool, (if q then 0 else 0) = 0) by now intros []. rewrite I0, Z.mul_0_l, Z.add_0_r.
  set (a := round_div (sum_mode r) (count x) (u1 - Design.unit x)). set (s := sign_of _ _ _ _). exists s.
  assert (Va : (IZR a * bp u1 = IZR (count x) * bp (Design.unit x))%R).
  { destruct H as [H|[t [Ht [Hu [Hc _]]]]]; [unfold a; rewrite H, round_div_0; ring|]. apply finer_unit. rewrite Hu. unfold u1, e. rewrite Ht. lia. }
  destruct (cut_again r) eqn:Ca; [|now apply convert_ext].
  apply convert_ext; auto. rewrite <- Va. destruct (Z.eq_dec a 0) as [A0|A0]; [rewrite A0, round_div_0; ring|].
  destruct H as [H|[t [Ht [Hu [Hc Hb]]]]]; [exfalso; apply A0; unfold a; now rewrite H, round_div_0|]. destruct (Hb eq_refl) as [Eb Lb].
  assert (N0 : count x <> 0) by (intros Q; apply A0; unfold a; now rewrite Q, round_div_0).
  assert (Lg : Z.log2 (Z.abs a) + u1 = Z.log2 (Z.abs (count x)) + Design.unit x).
  { pose proof (log2_mag a u1 A0) as L1. pose proof (log2_mag (count x) (Design.unit x) N0) as L2. rewrite Va in L1. lia. }
  set (u3 := Z.max (Z.log2 (Z.abs a) + u1) (emin o) - sum_bits r). rewrite round_div_fix, Va.
  destruct (scaled_multiple (count x) (Design.unit x) u3) as [k Hk]; [unfold u3; rewrite Hu in *; lia|]. rewrite Hk. apply fix_multiple.
Qed.

(** A term in units of a sum whose exponent is at least its own. *)
Lemma cut_at_most t f m e y : 0 <= bits t <= f -> has t y -> exp y <= e -> Z.abs (cut m (e - f) y) <= most t * 2 ^ (f - bits t).
Proof.
  intros Bf [[S M] [Fr _]] E. set (b := most t * 2 ^ (f - bits t)). set (u := e - f).
  assert (M0 : 0 <= most t) by (eapply Z.le_trans; [|exact M]; apply Z.mul_nonneg_nonneg; [lia|apply Z.pow_nonneg; lia]).
  assert (B0 : 0 <= b) by (apply Z.mul_nonneg_nonneg; [exact M0|apply Z.pow_nonneg; lia]).
  apply le_IZR. rewrite abs_IZR. apply Rmult_le_reg_r with (bp u); [apply bpow_gt_0|].
  rewrite <- (Rabs_pos_eq (bp u)) at 1 by apply bpow_ge_0. rewrite <- Rabs_mult, cut_ok. unfold fix_rnd. apply abs_round_le_generic; auto with typeclass_instances.
  - apply generic_format_FIX. now exists (Defs.Float radix2 b u).
  - assert (Ab : Rabs (V y) = (IZR (sig y) * bp (lsb y))%R).
    { unfold V. rewrite Rabs_mult, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. f_equal. rewrite <- abs_IZR. f_equal. unfold signed. destruct (neg y); lia. }
    rewrite Ab. apply Rle_trans with (IZR (sig y * 2 ^ (bits t - frac y)) * bp (exp y - bits t))%R.
    { apply Req_le. rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia. do 2 f_equal. unfold lsb. lia. }
    apply Rle_trans with (IZR (most t) * bp (e - bits t))%R.
    { apply Rmult_le_compat; [apply IZR_le; apply Z.mul_nonneg_nonneg; [lia|apply Z.pow_nonneg; lia]|apply bpow_ge_0|now apply IZR_le|]. apply bpow_le. lia. }
    apply Req_le. unfold b. rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia. do 2 f_equal. unfold u. lia.
Qed.

Lemma zsum_most b l : Forall (fun x => Z.abs x <= b) l -> Z.abs (zsum l) <= Z.of_nat (length l) * b.
Proof.
  induction 1 as [|x l Hx H IH]; [cbn; lia|]. change (zsum (x :: l)) with (x + zsum l). cbn [length]. rewrite Nat2Z.inj_succ, Z.mul_succ_l. lia.
Qed.

Lemma down_mirrored r t f low n ps qs c c' : fraction_bits (products_sum r) = Some f -> carry_bits (products_sum r) = None -> normalise (products_sum r) = false ->
  zero_exponent (products_sum r) = ZeroNone -> two_sums r = false -> symmetric (alignment (products_sum r)) = true -> symmetric (rho (out (products_sum r))) = true ->
  0 <= p (out (products_sum r)) -> 0 <= f <= sum_bits r -> 0 <= bits t <= f -> Z.of_nat (length ps) <= n ->
  Forall (fun y => is_zero y = false -> has t y /\ low <= exp y) ps -> is_zero c = true -> is_zero c' = true -> exp c' = exp c -> exp c + f - joint_bits r <= low ->
  (cut_again r = true -> emin (out (products_sum r)) + f - sum_bits r <= low /\ Z.log2 (n * (most t * 2 ^ (f - bits t))) <= sum_bits r) ->
  Forall2 opposite ps qs -> mirrored (round_down_sum r ps c) (round_down_sum r qs c').
Proof.
  intros F K Nn Ze Tw Sa Sr P B Bt Ln Fp Zc Zc' Ec Cl Ca H. unfold round_down_sum. rewrite Tw. cbn [andb]. set (s := products_sum r) in *. set (o := out s) in *.
  assert (X : count (truncated r ps) = 0 \/ exists e, Design.top (truncated r ps) = Some e /\ Design.unit (truncated r ps) = e - f /\ exp c + f - joint_bits r <= e /\
    (cut_again r = true -> emin o + f - sum_bits r <= e /\ Z.log2 (Z.abs (count (truncated r ps))) <= sum_bits r)).
  { unfold truncated. cbn [count Design.top Design.unit]. fold s. unfold total. rewrite K. destruct (largest s ps) as [e|] eqn:Q.
    - right. exists e. split; [reflexivity|]. assert (U : unit_of s ps = e - f) by (unfold unit_of; now rewrite F, Q). split; [exact U|].
      destruct (largest_attained s ps e Q) as [y [Hy Ey]]. unfold term_exponent in Ey. destruct (is_zero y) eqn:Zy; [rewrite Ze in Ey; discriminate Ey|].
      rewrite Nn in Ey. injection Ey as Ey. pose proof Fp as Fp'. rewrite Forall_forall in Fp'. destruct (Fp' y Hy Zy) as [Ht Hl]. split; [lia|].
      intros Ca'. destruct (Ca Ca') as [C1 C2]. split; [lia|]. eapply Z.le_trans; [|exact C2]. apply Z.log2_le_mono.
      assert (B0 : 0 <= most t * 2 ^ (f - bits t)).
      { pose proof (cut_at_most t f RZ (exp y) y Bt Ht ltac:(lia)) as G. pose proof (Z.abs_nonneg (cut RZ (exp y - f) y)). lia. }
      assert (Fc : Forall (fun x => Z.abs x <= most t * 2 ^ (f - bits t)) (counts s ps)).
      { unfold counts. rewrite U. apply Forall_map. apply Forall_forall. intros z Hz. destruct (is_zero z) eqn:Zz; [rewrite cut_zero by exact Zz; cbn; exact B0|].
        apply cut_at_most; [exact Bt|now apply Fp'|]. pose proof (largest_in s ps z Hz) as L. rewrite Q in L. unfold term_exponent in L. rewrite Zz, Nn in L. cbn in L. exact L. }
      eapply Z.le_trans; [apply (zsum_most _ _ Fc)|]. unfold counts. rewrite map_length. apply Z.mul_le_mono_nonneg_r; auto.
    - left. unfold counts. rewrite zeros_count; [apply zsum_zeros|]. apply forallb_forall. intros z Hz. now apply (largest_none s ps). }
  assert (Lq : largest s qs = largest s ps).
  { unfold largest. f_equal. clear -H. induction H as [|x y l m Hx H IH]; cbn [map]; auto. now rewrite IH, (opposite_exponent s _ _ Hx). }
  assert (Y : count (truncated r qs) = - count (truncated r ps) /\ Design.top (truncated r qs) = Design.top (truncated r ps) /\ Design.unit (truncated r qs) = Design.unit (truncated r ps)).
  { unfold truncated. cbn [count Design.top Design.unit]. fold s. unfold total. rewrite K, (opposite_counts s _ _ Sa H), zsum_opp. split; auto. split; [exact Lq|now apply opposite_unit]. }
  destruct Y as [Y1 [Y2 Y3]]. destruct (add_zero_c r f (truncated r ps) c F B Zc X) as [g G].
  destruct (add_zero_c r f (truncated r qs) c' F B Zc') as [h E].
  { rewrite Y1, Y2, Y3, Ec, Z.abs_opp. destruct X as [X|X]; [left; lia|now right]. }
  rewrite G, E, Y1, Y3. fold s o. split; [now apply convert_opp|split; now apply convert_whole].
Qed.

(** * Designs, from words *)

(** The side condition: products other than zero have exponents of at least [low]. *)
Definition down_negation_ok (d : design) (low : Z) : bool :=
  match sums d, term_facts d with
  | RoundedDown r, Some t =>
      let s := products_sum r in
      negation_kept (with_sum d s) && negb (two_sums r) && match cutting_of d with Whole => true | _ => false end &&
      match fraction_bits s, zero_exponent s with
      | Some f, ZeroNone =>
          negb (normalise s) && (0 <=? f) && (f <=? sum_bits r) && (0 <=? bits t) && (bits t <=? f) && (least (c_format d) + f - joint_bits r <=? low) &&
          (negb (cut_again r) || (emin (out s) + f - sum_bits r <=? low) && (Z.log2 (Z.of_nat (block d) * (most t * 2 ^ (f - bits t))) <=? sum_bits r))
      | _, _ => false
      end
  | _, _ => false
  end.

(** No product other than zero has an exponent below [low]. *)
Definition least_products (d : design) (low : Z) (w : words) : Prop :=
  Forall (fun e => forall y, term d e = Num y -> is_zero y = false -> low <= exp y) (elements d w).

Lemma zero_exp f w x : format_ok f = true -> decode f w = Num x -> is_zero x = true -> exp x = least f.
Proof.
  intros O D Z0. destruct (decode_num _ _ _ O D) as [_ [_ [_ E]]]. unfold is_zero in Z0. apply Z.eqb_eq in Z0. rewrite Z0 in E.
  unfold format_ok in O. apply andb_prop in O. destruct O as [O _]. apply Z.leb_le in O. pose proof (Z.pow_pos_nonneg 2 (fbits f) ltac:(lia) O). lia.
Qed.

(** One block of negated products from a zero of either sign gives the negated result. *)
Theorem down_negation_holds d low w w' x : down_negation_ok d low = true -> (length (pairs w) <= block d)%nat -> decode (c_format d) (c_word w) = Num x -> is_zero x = true ->
  Forall2 (negated_element d) (elements d w) (elements d w') -> mirrored (decode (c_format d) (c_word w)) (decode (c_format d) (c_word w')) ->
  least_products d low w -> mirrored (value d w) (value d w').
Proof.
  intros O Lw Dx Zx H Hc Le. unfold down_negation_ok in O. destruct (sums d) as [| | | |r| | | |] eqn:S; try discriminate O. destruct (term_facts d) as [t|] eqn:T; [|discriminate O]. cbv zeta in O.
  repeat rewrite andb_true_iff in O. destruct O as [[[Nk Tw] Cw] O]. apply negb_true_iff in Tw.
  destruct (fraction_bits (products_sum r)) as [f|] eqn:F; [|easy]. destruct (zero_exponent (products_sum r)) eqn:Ze; try easy.
  repeat rewrite andb_true_iff in O. destruct O as [[[[[[Nn F0] F1] B0] B1] Lc] Ca]. apply negb_true_iff in Nn. apply Z.leb_le in F0, F1, B0, B1, Lc.
  destruct (cutting_of d) eqn:Cd; try easy. pose proof Nk as Nk'. unfold negation_kept in Nk'. cbn [with_sum sums factors cutting_of skips c_rule converted composed a_format b_format c_format scales mirrors_sum mirrors] in Nk'.
  repeat rewrite andb_true_iff in Nk'. destruct Nk' as [[[[[[[[[[[Mi Kc] Ka] R] St] Sk] Cu] X] Oa] Ob] Oc] Os]. destruct Mi as [Mi P]. apply Z.leb_le in P. apply negb_true_iff in Sk.
  assert (Zt : zero_terms (factors d) = None).
  { clear -T. unfold term_facts in T. destruct (zero_terms (factors d)); [|reflexivity]. cbv iota beta zeta in T. rewrite andb_false_r in T. discriminate T. }
  destruct (converted d) eqn:Cv; [easy|]. destruct (composed d) eqn:Co; [easy|].
  unfold negation_claim in Mi. repeat rewrite andb_true_iff in Mi. destruct Mi as [[Sa Sr] Kb']. destruct (carry_bits (products_sum r)) eqn:Cb; [easy|].
  rewrite Dx in Hc. destruct (decode (c_format d) (c_word w')) as [x'| |] eqn:Dx'; try now destruct Hc.
  destruct (mirrored_num _ _ Hc) as [M1 [_ [M2 _]]]. assert (Zx' : is_zero x' = true) by (unfold is_zero in *; now rewrite M1).
  pose proof (zero_exp _ _ _ Oc Dx Zx) as Ex.
  unfold value. rewrite Co, Dx, Dx'. unfold values. rewrite (Forall2_length _ _ _ H).
  assert (Lx : (length (elements d w') <= block d)%nat) by (rewrite <- (Forall2_length _ _ _ H), elements_length; exact Lw).
  pose proof (elements_made d w) as Mm. unfold least_products in Le. revert H Lx Mm Le. generalize (elements d w) as b, (elements d w') as b'. intros b b' H Lx Mm Le.
  destruct b' as [|e' b']; [exact Hc|]. assert (One : cut_list (length (e' :: b')) (block d) (e' :: b') = [e' :: b']).
  { cbn [length cut_list]. rewrite firstn_all2, skipn_all2 by exact Lx. now destruct (length b'). }
  assert (Lb : (length b <= block d)%nat) by (rewrite (Forall2_length _ _ _ H); exact Lx).
  assert (One' : cut_list (length (e' :: b')) (block d) b = [b]).
  { destruct b as [|e b]; [inversion H|]. cbn [length cut_list]. rewrite firstn_all2, skipn_all2 by exact Lb. now destruct (length b'). }
  rewrite One, One'. cbn [fold_left]. set (l := e' :: b') in *.
  assert (Bv : forall y k, is_zero y = true -> block_value d (Num y) k = on_numbers (fun _ => round_down_sum r (map num_of (map (term d) (ordered d k))) y) (map (term d) (ordered d k) ++ [Num y])).
  { intros y k Zy. assert (Fy : flush (c_rule d) (Num y) = Num y) by (unfold flush, is_subnormal; rewrite Zy; reflexivity).
    rewrite (down_value d r), taken_kept, Fy by auto. reflexivity. }
  rewrite !Bv by assumption. pose proof (ordered_2 d _ _ _ H) as Ho. pose proof (ordered_all d _ _ Mm) as Mo.
  assert (Tm : Forall2 mirrored (map (term d) (ordered d b)) (map (term d) (ordered d l))).
  { destruct (terms_mirrored (with_sum d (products_sum r)) (ordered d b) (ordered d l) Nk Ho Mo) as [G _]. unfold terms in G. cbn [cutting_of with_sum] in G. rewrite Cd in G. exact G. }
  apply numbers_mirrored; [apply Forall2_app; [exact Tm|constructor; [exact Hc|constructor]]|]. intros _ _.
  apply (down_mirrored r t f low (Z.of_nat (block d))); auto; try lia.
  - rewrite !map_length. unfold ordered. destruct (odd_first d); rewrite ?swapped_length; lia.
  - apply Forall_forall. intros y Hy Zy. apply in_map_iff in Hy. destruct Hy as [v [Ev Hv]]. apply in_map_iff in Hv. destruct Hv as [e [Ee He]].
    assert (Hb : In e b) by (unfold ordered in He; destruct (odd_first d); auto; now apply swapped_incl).
    destruct v as [z| |]; [|subst y; discriminate Zy|subst y; discriminate Zy]. cbn in Ev. subst z. rewrite Forall_forall in Mm, Le. split; [|now apply (Le e Hb)].
    apply (scaled_has d t e T (Mm e Hb)). exact Ee.
  - intros Q. rewrite Q in Ca. cbn in Ca. apply andb_prop in Ca. destruct Ca as [C1 C2]. apply Z.leb_le in C1, C2. auto.
  - clear -Tm. induction Tm; cbn; constructor; auto using num_of_mirrored.
Qed.

(** Where all products of the formats have such exponents. *)
Theorem down_negation_of_all d t w w' x : term_facts d = Some t -> down_negation_ok d (low t) = true -> (length (pairs w) <= block d)%nat ->
  decode (c_format d) (c_word w) = Num x -> is_zero x = true ->
  Forall2 (negated_element d) (elements d w) (elements d w') -> mirrored (decode (c_format d) (c_word w)) (decode (c_format d) (c_word w')) ->
  mirrored (value d w) (value d w').
Proof.
  intros T O L D Z0 H Hc. apply (down_negation_holds d (low t) w w' x); auto. apply Forall_forall. intros e He y Ey _.
  pose proof (elements_made d w) as M. rewrite Forall_forall in M. now apply (scaled_has d t e T (M e He)).
Qed.
