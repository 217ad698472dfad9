(** One call of a unit, and compositions of calls: the relative error from c = 0, sums of integers. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Losses Accumulated Trees FromZero.
Import ListNotations.
Open Scope R_scope.

(** * The blocks of a call, those of a composition's parts in turn *)

Definition all_blocks (d : design) (w : words) : list (list element) :=
  match composed d with
  | None => blocks_of_word d w
  | Some how => concat (map (fun k => let xs := map (at_k (elements d w)) k in cut_list (length xs) (block d) xs) (parts how))
  end.

Lemma parts_in_turn d xs ks : forall v, parts_value d xs ks v =
  in_turn d (concat (map (fun k => let ys := map (at_k xs) k in cut_list (length ys) (block d) ys) ks)) v.
Proof.
  unfold parts_value, in_turn. induction ks as [|k r IH]; intros v; [reflexivity|]. cbn [fold_left map concat].
  rewrite fold_left_app, IH. reflexivity.
Qed.

Lemma all_blocks_ok d w : (0 < block d)%nat -> parts_ok d = true -> Forall (leading_element d) (concat (all_blocks d w)) ->
  Forall (block_ok d) (all_blocks d w).
Proof.
  intros Bn Po Le. pose proof (elements_made d w) as Mm.
  assert (A : Forall (fun b => (length b <= block d)%nat /\ Forall (made_by d) b) (all_blocks d w)).
  { unfold all_blocks. destruct (composed d) as [how|] eqn:Co.
    - apply Forall_forall. intros b Hb. apply in_concat in Hb. destruct Hb as [bs [Hbs Hb]]. apply in_map_iff in Hbs. destruct Hbs as [k [<- _]].
      cbv zeta in Hb. pose proof (cut_list_blocks (made_by d) (block d) Bn (length (map (at_k (elements d w)) k)) (map (at_k (elements d w)) k)) as G.
      assert (M : Forall (made_by d) (map (at_k (elements d w)) k)).
      { apply Forall_forall. intros x Hx. apply in_map_iff in Hx. destruct Hx as [i [<- _]]. apply at_k_made; auto.
        left. unfold parts_ok in Po. rewrite Co in Po. now destruct (scales d). }
      specialize (G M). rewrite Forall_forall in G. now apply G.
    - apply cut_list_blocks; auto. }
  apply Forall_forall. intros b Hb. rewrite Forall_forall in A. destruct (A b Hb) as [A1 A2]. split; auto. split; auto.
  apply Forall_forall. intros e He. rewrite Forall_forall in Le. apply Le. apply in_concat. eauto.
Qed.

(** * The relative error from c = 0 *)

(** For all words whose products have leading bits, c = 0 and m blocks: |d - exact| <= ((1 + kappa_0) (1 + kappa)^(m-1) - 1) Σ|terms|
    and what counts only beside subnormal results. *)
Theorem relative_error_from_zero d s f lam lam0 w z x b bs :
  sum_of d = Some s -> relative_ok d f lam = true -> composed d = None ->
  decode (c_format d) (c_word w) = Num x -> is_zero x = true -> Forall (leading_element d) (elements d w) ->
  blocks_of_word d w = b :: bs -> alone_ok d s f lam0 b -> value d w = Num z ->
  let k := kappa s f (units (IZR lam * / 4096) (Z.of_nat (block d))) in
  let h := eta s f (floor_of d s) (all_units (Z.of_nat (block d))) in
  let k0 := kappa s f (units_alone (IZR lam0 * / 4096) (Z.of_nat (block d))) in
  let h0 := eta s f (floor_of d s) (all_units (Z.of_nat (block d))) in
  let m := length bs in
  Rabs (V z - Rsum (map (term_value d) (elements d w))) <=
    ((1 + k0) * (1 + k) ^ m - 1) * Rsum (map (fun e => Rabs (term_value d e)) (elements d w)) +
    ((1 + k) ^ m * h0 + h * geometric k m).
Proof.
  intros Hs O Co Dc Zx Le Eb Al Vz k h k0 h0 m.
  destruct (term_facts d) as [t|] eqn:T; [|unfold relative_ok in O; rewrite Hs, T in O; easy].
  assert (Bn : (0 < block d)%nat).
  { unfold relative_ok in O. rewrite Hs, T in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[[_ Bn] _] _] _] _] _]. lia. }
  assert (Cc : concat (blocks_of_word d w) = elements d w) by (apply concat_cut; auto).
  assert (F : Forall (block_ok d) (blocks_of_word d w)).
  { pose proof (all_blocks_ok d w Bn) as A. unfold parts_ok, all_blocks in A. rewrite Co, Cc in A. now apply A. }
  unfold value in Vz. rewrite Co, Dc in Vz. change (in_turn d (blocks_of_word d w) (Num x) = Num z) in Vz. rewrite Eb in *.
  assert (Fx : fit_c f (floor_of d s) (low_of d t s) x).
  { apply (start_fit d s t f lam (c_word w)); auto using zero_settled. unfold start_format. now rewrite Co. }
  pose proof (blocks_from_zero d s t f lam lam0 b bs x z Hs T O F Al Fx Zx Vz) as G. cbv zeta in G. rewrite Cc in G. exact G.
Qed.

(** Compositions: the parts' sum from +0, and c added to it by a sum that is exact and then rounded. *)
Theorem relative_error_of_calls d s f lam lam0 how w z x b bs :
  sum_of d = Some s -> relative_ok d f lam = true -> composed d = Some how -> parts_ok d = true ->
  of_sum how = Kept -> of_c how = Kept -> exact_node (addition how) = true ->
  is_zero (num_of (decode (d_format d) 0)) = true ->
  decode (c_format d) (c_word w) = Num x -> Forall (leading_element d) (concat (all_blocks d w)) ->
  all_blocks d w = b :: bs -> alone_ok d s f lam0 b -> value d w = Num z ->
  let k := kappa s f (units (IZR lam * / 4096) (Z.of_nat (block d))) in
  let h := eta s f (floor_of d s) (all_units (Z.of_nat (block d))) in
  let k0 := kappa s f (units_alone (IZR lam0 * / 4096) (Z.of_nat (block d))) in
  let h0 := eta s f (floor_of d s) (all_units (Z.of_nat (block d))) in
  let u := share (out (addition how)) in let h' := flush_loss (out (addition how)) in
  let C := (1 + k0) * (1 + k) ^ length bs - 1 in
  let J := (1 + k) ^ length bs * h0 + h * geometric k (length bs) in
  Rabs (V z - (V x + Rsum (map (term_value d) (concat (all_blocks d w))))) <=
    ((1 + C) * (1 + u) - 1) * (Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) (concat (all_blocks d w)))) + ((1 + u) * J + h').
Proof.
  intros Hs O Co Po Os Oc Ex Z0 Dc Le Eb Al Vz k h k0 h0 u h' C J.
  destruct (term_facts d) as [t|] eqn:T; [|unfold relative_ok in O; rewrite Hs, T in O; easy].
  assert (Bn : (0 < block d)%nat).
  { unfold relative_ok in O. rewrite Hs, T in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[[_ Bn] _] _] _] _] _]. lia. }
  assert (L00 : 0 <= IZR lam0 * / 4096) by (destruct Al as [[Al' _] _]; apply IZR_le in Al'; lra).
  pose proof (all_blocks_ok d w Bn Po Le) as F.
  unfold value in Vz. rewrite Co, Os, Oc, !flush_kept, Dc, parts_in_turn in Vz.
  unfold all_blocks in Eb, F, Le |- *. rewrite Co in *.
  set (BS := concat (map (fun k => let xs := map (at_k (elements d w)) k in cut_list (length xs) (block d) xs) (parts how))) in *.
  destruct (in_turn d BS (decode (d_format d) 0)) as [r| |] eqn:R.
  2,3: exfalso; apply sum_values_inv in Vz; destruct Vz as [ts Et]; destruct ts as [|t1 ts]; easy.
  change [Num r; Num x] with (map Num [r; x]) in Vz. rewrite sum_values_num in Vz.
  pose proof (exact_node_loss _ _ _ Ex Vz) as L. unfold exact_sum, magnitude in L. cbn [map Rsum fold_right] in L. fold u h' in L.
  destruct (decode (d_format d) 0) as [x0| |] eqn:D0.
  2,3: exfalso; assert (G : c_rule d = Kept) by (unfold relative_ok in O; rewrite Hs, T in O; repeat rewrite andb_true_iff in O; destruct O as [[_ Q] _]; now destruct (c_rule d));
    first [pose proof (not_num_stays d s BS (Inf s0) Hs G (term_facts_zero d t T) eq_refl) as NN|pose proof (not_num_stays d s BS NaN Hs G (term_facts_zero d t T) eq_refl) as NN];
    rewrite R in NN; easy.
  assert (Fx : fit_c f (floor_of d s) (low_of d t s) x0).
  { apply (start_fit d s t f lam 0); auto using zero_settled. unfold start_format. now rewrite Co. }
  rewrite Eb in *. pose proof (blocks_from_zero d s t f lam lam0 b bs x0 r Hs T O F Al Fx Z0 R) as G. cbv zeta in G. fold k h k0 h0 in G.
  fold C J in G. set (S0 := Rsum (map (term_value d) (concat (b :: bs)))) in *. set (A0 := Rsum (map (fun e => Rabs (term_value d e)) (concat (b :: bs)))) in *.
  assert (SA : Rabs S0 <= A0).
  { unfold S0, A0. clear. induction (concat (b :: bs)); cbn; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. unfold Rsum in *. lra. }
  assert (u0 : 0 <= u) by (pose proof (share_pos (out (addition how))); unfold u; lra).
  assert (C0 : 0 <= C).
  { unfold C. pose proof (kappa_pos s f _ (units_alone_pos (IZR lam0 * / 4096) (Z.of_nat (block d)) L00)) as K0. fold k0 in K0.
    assert (K1 : 0 <= k).
    { apply kappa_pos, units_pos. unfold relative_ok in O. rewrite Hs, T in O. repeat rewrite andb_true_iff in O. destruct O as [[[[_ La] _] _] _].
      apply Z.leb_le in La. apply IZR_le in La. lra. }
    pose proof (pow_ge_1 k (length bs) K1). nra. }
  pose proof (growth_step u h' (V r) S0 A0 C J (V z) (V x) (Rabs (V x)) u0 C0 (Rabs_pos _) SA G) as GS.
  replace (V x + S0) with (S0 + V x) by ring. replace (Rabs (V x) + A0) with (A0 + Rabs (V x)) by ring. apply GS.
  replace (V z - (V r + V x)) with (V z - (V r + (V x + 0))) by ring. eapply Rle_trans; [exact L|]. lra.
Qed.

(** * Sums of integers on designs of one fused sum *)

Lemma integers_in_turn d s B bs : sum_of d = Some s -> integers_ok s B = true -> c_rule d = Kept -> odd_first d = false -> zero_terms (factors d) = None ->
  forall x, integer (V x) -> normal x ->
  Forall (fun e => exists y, term d e = Num y /\ integer (V y) /\ normal y) (concat bs) ->
  Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) (concat bs)) <= bp B ->
  exists z, in_turn d bs (Num x) = Num z /\ V z = V x + Rsum (map (term_value d) (concat bs)) /\ normal z /\ integer (V z).
Proof.
  intros S O Ck Od Zt. induction bs as [|b r IH]; intros x Ix Nx Ft A.
  - exists x. cbn. repeat split; auto. ring.
  - cbn [concat] in *. apply Forall_app in Ft. destruct Ft as [Fb Fr]. rewrite map_app, Rsum_app in A.
    assert (Us : exists us, map (term d) b = map Num us /\ Forall (fun y => integer (V y)) us /\ Forall normal us).
    { clear -Fb. induction Fb as [|e l [y [E [I N]]] Fb [us [U1 [U2 U3]]]]; [exists []; auto|].
      exists (y :: us). cbn. rewrite E, U1. auto. }
    destruct Us as [us [U1 [U2 U3]]].
    assert (E1 : exact_sum (us ++ [x]) = V x + Rsum (map (term_value d) b)).
    { unfold exact_sum, term_value. rewrite map_app, Rsum_app. change (Rsum (map V [x])) with (V x + 0).
      rewrite <- (map_map (term d) (fun v => V (num_of v))), U1, map_map, Rplus_0_r, Rplus_comm. reflexivity. }
    assert (E2 : magnitude (us ++ [x]) = Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) b)).
    { unfold magnitude, term_value. rewrite map_app, Rsum_app. change (Rsum (map (fun x => Rabs (V x)) [x])) with (Rabs (V x) + 0).
      rewrite <- (map_map (term d) (fun v => Rabs (V (num_of v)))), U1, map_map, Rplus_0_r, Rplus_comm. reflexivity. }
    assert (A0 : 0 <= Rsum (map (fun e => Rabs (term_value d e)) (concat r))) by (apply Rsum_nonneg; intros; apply Rabs_pos).
    destruct (integer_block s B (us ++ [x]) O) as [z [Hz [Vz Nz]]].
    { apply Forall_app; auto. } { apply Forall_app; auto. } { rewrite E2. lra. }
    assert (Bv : block_value d (Num x) b = Num z).
    { rewrite (block_value_one d s) by auto. rewrite taken_kept, Ck, flush_kept by auto. unfold block_products, ordered. rewrite Od.
      change (sum_values s (map (term d) b ++ [Num x]) = Num z). rewrite U1. change [Num x] with (map Num [x]). now rewrite <- map_app, sum_values_num. }
    rewrite E1 in Vz.
    assert (Iz : integer (V z)).
    { rewrite Vz, <- E1. apply integer_sum. apply Forall_app; auto. }
    destruct (IH z Iz Nz Fr) as [y [Y1 [Y2 [Y3 Y4]]]].
    { assert (Rabs (V z) <= Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) b)); [|lra].
      rewrite Vz, <- E1, <- E2. apply exact_sum_abs. }
    exists y. unfold in_turn in *. cbn [fold_left]. rewrite Bv. split; auto. split; auto. rewrite Y2, Vz, map_app, Rsum_app. ring.
Qed.

Definition integers_fused_ok (d : design) (B : Z) : bool :=
  match sum_of d with
  | Some s => integers_ok s B && match c_rule d, zero_terms (factors d) with Kept, None => true | _, _ => false end && negb (odd_first d) &&
      match composed d with
      | None => true
      | Some how => match of_sum how, of_c how with Kept, Kept => true | _, _ => false end && exact_node (addition how) &&
          holds_integers B (out (addition how)) && is_num (decode (d_format d) 0) && is_zero (num_of (decode (d_format d) 0))
      end
  | None => false
  end.

(** Integers of normal factors whose magnitudes, c's among them, add up to 2^B at most: the result is their sum. *)
Theorem integers_fused d B w x :
  integers_fused_ok d B = true -> decode (c_format d) (c_word w) = Num x -> integer (V x) -> normal x ->
  Forall (fun e => exists y, term d e = Num y /\ integer (V y) /\ normal y) (concat (all_blocks d w)) ->
  Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) (concat (all_blocks d w))) <= bp B ->
  exists z, value d w = Num z /\ V z = V x + Rsum (map (term_value d) (concat (all_blocks d w))).
Proof.
  intros O Dc Ix Nx Ft A. unfold integers_fused_ok in O. destruct (sum_of d) as [s|] eqn:S; [|easy].
  repeat rewrite andb_true_iff in O. destruct O as [[[Oi Ck] Od] Co]. apply negb_true_iff in Od.
  destruct (c_rule d) eqn:Cr; try easy. destruct (zero_terms (factors d)) eqn:Zt; [easy|].
  unfold value. destruct (composed d) as [how|] eqn:C.
  - repeat rewrite andb_true_iff in Co. destruct Co as [[[[Ck2 Ex] Hh] Nm] Z0].
    destruct (of_sum how) eqn:Os; try easy. destruct (of_c how) eqn:Oc; try easy. rewrite !flush_kept, Dc, parts_in_turn.
    destruct (decode (d_format d) 0) as [x0| |] eqn:D0; try easy. cbn [num_of] in Z0.
    unfold all_blocks in *. rewrite C in *.
    set (BS := concat (map (fun k => let xs := map (at_k (elements d w)) k in cut_list (length xs) (block d) xs) (parts how))) in *.
    pose proof (Rabs_pos (V x)) as Px.
    destruct (integers_in_turn d s B BS S Oi Cr Od Zt x0) as [r [R1 [R2 [_ R4]]]]; auto.
    { rewrite V_zero by auto. now exists 0%Z. } { intros Q. congruence. } { rewrite V_zero, Rabs_R0 by auto. lra. }
    rewrite (V_zero x0 Z0), Rplus_0_l in R2. rewrite R1.
    assert (Ar : Rabs (V r) <= Rsum (map (fun e => Rabs (term_value d e)) (concat BS))).
    { rewrite R2. clear. induction (concat BS); cbn; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. unfold Rsum in *. lra. }
    destruct (made_integers B 1 1 (Rsum [V r; V x]) (Rsum [Rabs (V r); Rabs (V x)]) (sum_values (addition how) [Num r; Num x])) as [z [Z1 [Z2 _]]].
    + exact (made_sum true integer (fun c => holds_integers B c = true) (addition how) 0
        [{| roundings := 0; exact := V r; size := Rabs (V r); got := Num r |}; {| roundings := 0; exact := V x; size := Rabs (V x); got := Num x |}]
        Hh Ex ltac:(repeat constructor; cbn; auto)).
    + cbn. lra.
    + exists z. split; auto. rewrite Z2. cbn. rewrite R2. ring.
  - rewrite Dc. unfold all_blocks in *. rewrite C in *.
    destruct (integers_in_turn d s B (blocks_of_word d w) S Oi Cr Od Zt x Ix Nx Ft A) as [z [Z1 [Z2 _]]]. exists z. split; auto.
Qed.

(** * The constants as fractions *)

(** In parts of 2^-F / 4096, of terms that lose so many parts. *)
Definition kappa_parts (c : conversion) (f lost : Z) : Z :=
  ((if nearest (rho c) then lost else Z.max (lost - 4096) 0) + 4096 * 2 ^ (f - p c - (if nearest (rho c) then 1 else 0)))%Z.

Definition kappa_is (d : sum) (f lost num den : Z) : bool :=
  match alignment d with RZ => true | _ => false end && (0 <=? f)%Z && (p (out d) + (if nearest (rho (out d)) then 1 else 0) <=? f)%Z &&
  (0 <? den)%Z && (kappa_parts (out d) f lost * den =? num * 4096 * 2 ^ f)%Z.

Lemma kappa_fraction d f lost num den : kappa_is d f lost num den = true -> kappa d f (IZR lost * / 4096) = IZR num / IZR den.
Proof.
  unfold kappa_is. intros O. repeat rewrite andb_true_iff in O. destruct O as [[[[A F0] P] D] E]. destruct (alignment d) eqn:Al; try easy.
  apply Z.leb_le in F0, P. apply Z.ltb_lt in D. apply Z.eqb_eq in E. apply (f_equal IZR) in E. rewrite !mult_IZR in E.
  assert (D0 : IZR den <> 0) by (apply not_0_IZR; lia). assert (B0 : bp f <> 0) by (pose proof (bpow_gt_0 radix2 f); lra).
  assert (Q : kappa d f (IZR lost * / 4096) = IZR (kappa_parts (out d) f lost) * / 4096 * bp (- f)).
  { unfold kappa. rewrite Al. cbn [growth]. unfold kept, share, kappa_parts. destruct (nearest (rho (out d))); rewrite plus_IZR, mult_IZR, <- bp_Z by lia.
    - replace (bp (- p (out d) - 1)) with (bp (f - p (out d) - 1) * bp (- f)) by (rewrite <- bpow_plus; f_equal; lia). field.
    - replace (bp (- p (out d))) with (bp (f - p (out d) - 0) * bp (- f)) by (rewrite <- bpow_plus; f_equal; lia).
      assert (M : Rmax (IZR lost * / 4096 - 1) 0 = IZR (Z.max (lost - 4096) 0) * / 4096).
      { destruct (Z.max_spec (lost - 4096) 0) as [[h ->]|[h ->]].
        - rewrite Rmax_right; [lra|]. assert (IZR lost < 4096) by (apply IZR_lt; lia). lra.
        - rewrite Rmax_left; rewrite ?minus_IZR; [lra|]. assert (4096 <= IZR lost) by (apply IZR_le; lia). lra. }
      rewrite M. field. }
  rewrite Q. rewrite <- (bp_Z f) in E by lia. rewrite bpow_opp.
  apply Rmult_eq_reg_r with (4096 * bp f * IZR den); [|repeat apply Rmult_integral_contrapositive_currified; auto; lra].
  field_simplify; auto. lra.
Qed.

(** The constants of a block that other blocks precede, and of one from c = 0. *)
Theorem kappa_units d f lam n num den : kappa_is d f (lam * Z.max (n - 1) 0 + 4096) num den = true ->
  kappa d f (units (IZR lam * / 4096) n) = IZR num / IZR den.
Proof.
  intros H. rewrite <- (kappa_fraction _ _ _ _ _ H). f_equal. unfold units. rewrite plus_IZR, mult_IZR. lra.
Qed.

Theorem kappa_alone d f lam n num den : kappa_is d f (lam * Z.max (n - 1) 0) num den = true ->
  kappa d f (units_alone (IZR lam * / 4096) n) = IZR num / IZR den.
Proof.
  intros H. rewrite <- (kappa_fraction _ _ _ _ _ H). f_equal. unfold units_alone. rewrite mult_IZR. lra.
Qed.
