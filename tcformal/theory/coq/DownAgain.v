(** Blocks of products of zero after others, of sums that are rounded down. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs Again.
Import ListNotations.
Open Scope Z_scope.

Definition on_grid (g : Z) (x : R) : Prop := exists k, x = (IZR k * bp g)%R.

Lemma fix_grid m u g x : on_grid g x -> on_grid g (fix_rnd m u x).
Proof.
  intros [k ->]. destruct (Z_le_gt_dec g u) as [L|L].
  - unfold fix_rnd, round, F2R, cexp, FIX_exp. cbn [Fnum Fexp]. apply scaled_multiple. exact L.
  - destruct (scaled_multiple k g u) as [j Hj]; [lia|]. rewrite Hj, fix_multiple, <- Hj. now exists k.
Qed.

Lemma round_div_fix m a v u : (IZR (round_div m a (u - v)) * bp u = fix_rnd m u (IZR a * bp v))%R.
Proof.
  rewrite round_div_ok. unfold fix_rnd, round, F2R, scaled_mantissa, cexp, FIX_exp. cbn [Fnum Fexp]. do 3 f_equal.
  rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
Qed.

Lemma grid_round m a v u g : on_grid g (IZR a * bp v) -> on_grid g (IZR (round_div m a (u - v)) * bp u).
Proof. intros H. rewrite round_div_fix. now apply fix_grid. Qed.

Lemma grid_plus g x y : on_grid g x -> on_grid g y -> on_grid g (x + y)%R.
Proof. intros [j ->] [k ->]. exists (j + k). rewrite plus_IZR. ring. Qed.

Lemma grid_zero g u : on_grid g (IZR 0 * bp u).
Proof. exists 0. ring. Qed.

Definition partial_grid (g : Z) (x : partial) : Prop := on_grid g (IZR (count x) * bp (unit x)).

Lemma truncated_grid r g ps : carry_bits (products_sum r) = None -> Forall (multiple g) ps -> partial_grid g (truncated r ps).
Proof. intros K H. unfold partial_grid, truncated. cbn [count unit]. apply total_multiple; auto. Qed.

Lemma sides_grid r g x y : partial_grid g x -> partial_grid g y -> partial_grid g (sum_of_sides r x y).
Proof.
  intros X Y. unfold partial_grid, sum_of_sides. cbn [count unit]. rewrite plus_IZR, Rmult_plus_distr_r. apply grid_plus; now apply grid_round.
Qed.

Definition with_conversion (r : round_down) (c : conversion) : round_down :=
  {| products_sum := with_out (products_sum r) c; sum_bits := sum_bits r; sum_mode := sum_mode r; cut_again := cut_again r;
     two_sums := two_sums r |}.

(** What is rounded last, whatever it is converted to. *)
Lemma add_c_convert r x c : exists s n u, add_c r x c = convert (out (products_sum r)) s n u /\
  (forall o, rho o = rho (out (products_sum r)) -> emin o = emin (out (products_sum r)) -> add_c (with_conversion r o) x c = convert o s n u) /\
  (forall g, down_bits r <= sum_bits r -> partial_grid g x -> multiple g c -> on_grid g (IZR n * bp u)).
Proof.
  unfold add_c. cbv zeta. set (e := match Design.top x with Some e => Z.max e (exp c) | None => exp c end).
  set (u1 := e - (sum_bits r + (if cut_again r then 1 else 0))). set (u2 := e - down_bits r).
  set (a := round_div (sum_mode r) (count x) (u1 - unit x)). set (b := if two_sums r && (exp c <? u2 - 1) then 0 else cut (sum_mode r) u2 c).
  assert (G : forall g, down_bits r <= sum_bits r -> partial_grid g x -> multiple g c -> on_grid g (IZR (a + b * 2 ^ (u2 - u1)) * bp u1)).
  { intros g Bd X C. rewrite plus_IZR, mult_IZR, Rmult_plus_distr_r. apply grid_plus; [now apply grid_round|].
    rewrite Rmult_assoc, <- bp_Z, <- bpow_plus by (unfold u1, u2; destruct (cut_again r); lia). replace (u2 - u1 + u1) with u2 by lia. unfold b.
    destruct (_ && _); [apply grid_zero|]. rewrite cut_ok. now apply fix_grid. }
  cbn [products_sum with_conversion out with_out sum_bits sum_mode cut_again two_sums]. change (down_bits (with_conversion r _)) with (down_bits r).
  destruct (cut_again r); do 3 eexists; (split; [reflexivity|]; split; [intros o Hr He; rewrite Hr, ?He; reflexivity|]); intros g Bd X C; [apply grid_round|]; now apply G.
Qed.

Definition down_blocks_ok (d : design) : bool :=
  match sums d, term_facts d with
  | RoundedDown r, Some t => let s := products_sum r in let c := out s in let g := emin c - p c in
      (0 <=? p c) && (emin c <=? emax c) && negb (flushes c) && unseen_sign c && match carry_bits s with None => true | _ => false end && zero_none s && has_bits s &&
      (p c <=? down_bits r) && (down_bits r <=? sum_bits r) && (g <=? low t - bits t) && (g <=? least (start_format d) - fbits (start_format d)) &&
      format_ok (start_format d) && match cutting_of d, c_rule d, composed d with Whole, Kept, None => true | _, _, _ => false end && negb (skips d)
  | _, _ => false
  end.

(** A result: that of a conversion in which only zero becomes one. *)
Definition plain_result (c : conversion) (v : val) : Prop :=
  forall z, v = Num z -> exists s n u, convert c s n u = Num z /\ on_grid (emin c - p c) (IZR n * bp u).

Lemma zero_plain c s n u z t v : 0 <= p c -> unseen_sign c = true -> flushes c = false -> on_grid (emin c - p c) (IZR n * bp u) ->
  convert c s n u = Num z -> is_zero z = true -> convert c t 0 v = Num z.
Proof.
  intros P U F [k G] H Z. destruct (Z.eq_dec n 0) as [->|N].
  - rewrite <- H. rewrite (convert_zero c t v u). apply convert_unseen; auto. easy.
  - exfalso. pose proof (never_zero c n u k P G N) as R. unfold convert in H. rewrite F in H. cbn [andb] in H. rewrite orb_false_r in H.
    destruct (Z.eqb_spec (round_div (rho c) n (last_bit c n u - u)) 0); [easy|]. unfold is_zero in Z. apply Z.eqb_eq in Z.
    destruct (emax c <? _); [destruct (is_infinite c n); [easy|]|]; injection H as <-; cbn [sig] in Z; [|lia].
    assert (2 <= 2 ^ (p c + 1)) by (rewrite Z.add_1_r, Z.pow_succ_r by lia; assert (0 < 2 ^ p c) by (apply Z.pow_pos_nonneg; lia); lia). lia.
Qed.

Lemma zeros_partial r us : forallb is_zero us = true -> carry_bits (products_sum r) = None -> zero_none (products_sum r) = true ->
  count (truncated r us) = 0 /\ Design.top (truncated r us) = None.
Proof.
  intros Z K N. unfold truncated. cbn [count Design.top]. split.
  - unfold total. rewrite K. unfold counts. rewrite zeros_count by auto. apply zsum_zeros.
  - apply zeros_none; auto. unfold zero_none in N. now destruct (zero_exponent (products_sum r)).
Qed.

Lemma second_in {A} (l : list A) x : In x (every_second l) -> In x l.
Proof.
  assert (G : forall n (l : list A), (length l <= n)%nat -> In x (every_second l) -> In x l).
  { induction n as [|n IH]; intros m Lm Hx; destruct m as [|a [|b m]]; auto; cbn [length] in Lm; try lia. cbn in Hx. destruct Hx as [->|Hx]; [now left|].
    right. right. apply IH; auto. lia. }
  intros Hx. now apply (G (length l)).
Qed.

Lemma odds_in {A} (l : list A) x : In x (odds l) -> In x l.
Proof. unfold odds. intros H. apply second_in in H. destruct l; [easy|now right]. Qed.

(** A number of a format, or a result, is below 2 at its exponent. *)
Lemma fits_below m x : 0 <= m -> fits' (number_shape m) x -> (Rabs (V x) < bp (exp x + 1))%R.
Proof.
  intros M [S F]. unfold number_shape, fst, snd in F.
  assert (Ab : Rabs (V x) = (IZR (sig x) * bp (- frac x) * bp (exp x))%R).
  { unfold V. rewrite Rabs_mult, (Rabs_pos_eq (bp _)), <- abs_IZR, Rmult_assoc, <- bpow_plus by apply bpow_ge_0. f_equal; [|f_equal; unfold lsb; lia].
    f_equal. unfold signed. destruct (neg x); lia. }
  rewrite Ab. replace (exp x + 1) with (1 + exp x) by lia. rewrite bpow_plus. apply Rmult_lt_compat_r; [apply bpow_gt_0|].
  eapply Rle_lt_trans; [exact F|]. pose proof (bpow_gt_0 radix2 (- m)) as M0. rewrite minus_IZR, <- bp_Z by lia.
  rewrite Rmult_minus_distr_r, <- bpow_plus. replace (m + 1 + - m) with 1 by lia. lra.
Qed.

(** The value of a block. *)
Lemma down_value d r v b : sums d = RoundedDown r -> cutting_of d = Whole -> skips d = false ->
  block_value d v b = on_numbers (fun _ => round_down_sum r (map num_of (block_products d b)) (num_of (taken_c d v))) (block_products d b ++ [taken_c d v]).
Proof. intros S C Sk. unfold block_value, skipped, terms. now rewrite Sk, C, S. Qed.

Lemma add_c_nothing r x c s n u : let o := out (products_sum r) in 0 <= p o -> emin o <= emax o -> flushes o = false -> p o <= down_bits r -> down_bits r <= sum_bits r ->
  count x = 0 -> Design.top x = None -> convert o s n u = Num c -> is_zero c = false -> exists y, add_c r x c = Num y /\ like y c.
Proof.
  intros o P M F Pd Bd Cx Tx H Z. unfold add_c. cbv zeta. rewrite Cx, Tx, round_div_0. fold o.
  set (u1 := exp c - (sum_bits r + (if cut_again r then 1 else 0))). set (u2 := exp c - down_bits r).
  assert (B : (exp c <? u2 - 1) = false) by (apply Z.ltb_ge; unfold u2; lia). rewrite B, andb_false_r. set (b := cut (sum_mode r) u2 c).
  assert (Vb : (IZR b * bp u2 = V c)%R).
  { unfold b. rewrite cut_ok. destruct (result_multiple o s n u c u2 P M H ltac:(unfold u2; lia)) as [k ->]. apply fix_multiple. }
  assert (Vn : (IZR (0 + b * 2 ^ (u2 - u1)) * bp u1 = V c)%R).
  { rewrite Z.add_0_l, mult_IZR, Rmult_assoc, <- bp_Z, <- bpow_plus by (unfold u1, u2; destruct (cut_again r); lia). replace (u2 - u1 + u1) with u2 by lia. exact Vb. }
  set (m := 0 + b * 2 ^ (u2 - u1)) in *. set (sg := sign_of _ _ _ _).
  assert (Q : forall n' u', (IZR n' * bp u' = V c)%R -> exists y, convert o sg n' u' = Num y /\ like y c).
  { intros n' u' E. rewrite (convert_ext o sg sg n' (signed c) u' (lsb c)) by auto. eapply convert_again; eauto. }
  destruct (cut_again r); [|now apply Q]. apply Q. set (u3 := Z.max (Z.log2 (Z.abs m) + u1) (emin o) - sum_bits r).
  rewrite round_div_fix, Vn. destruct (result_multiple o s n u c u3 P M H) as [k ->]; [|apply fix_multiple].
  destruct (convert_shape _ _ _ _ _ P M H) as [[E1 E2] Sh].
  assert (Nz : m <> 0). { intros E. rewrite E, Rmult_0_l in Vn. symmetry in Vn. unfold V in Vn. unfold is_zero in Z. apply Z.eqb_neq in Z. pose proof (bpow_gt_0 radix2 (lsb c)).
    assert (IZR (signed c) = 0)%R by nra. apply eq_IZR in H1. unfold signed in H1. destruct (neg c); lia. }
  assert (L : Z.log2 (Z.abs m) + u1 <= exp c).
  { pose proof (log2_mag m u1 Nz) as Lm. rewrite Vn in Lm.
    pose proof (fits_below _ _ P (convert_fits o s n u c (p o) P (Z.le_refl _) H)) as A.
    assert (V c <> 0%R). { intros E. rewrite E in Vn. apply Nz. apply eq_IZR. pose proof (bpow_gt_0 radix2 u1). nra. }
    pose proof (mag_le_bpow radix2 (V c) (exp c + 1) H0 A). lia. }
  unfold u3. lia.
Qed.

Lemma down_block_same d r v b : sums d = RoundedDown r -> down_blocks_ok d = true -> plain_result (out (products_sum r)) v -> zero_block d b ->
  like_val (block_value d v b) v.
Proof.
  intros S O Rv Zb. unfold down_blocks_ok in O. rewrite S in O. destruct (term_facts d) as [t|] eqn:T; [|easy]. cbv zeta in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[[[[[P M] F] U] K] Zn] Hb] Pd] Bd] G1] G2] Oc] Cu] Sk]. apply negb_true_iff in F, Sk. apply Z.leb_le in P, M, Pd, Bd.
  destruct (carry_bits (products_sum r)) eqn:Ks; [easy|]. destruct (cutting_of d) eqn:Cd; try easy. destruct (c_rule d) eqn:Cr; try easy. destruct (composed d); [easy|].
  rewrite (down_value d r), taken_kept, Cr, flush_kept by (auto; eapply term_facts_zero; eauto).
  destruct (zeros_num _ Zb) as [us [-> Uz]]. unfold on_numbers. rewrite numbers_zeros. destruct v as [z|w|]; cbn [numbers forallb is_num andb map num_of].
  2, 3: rewrite special_zeros; cbn; try (destruct w; cbn); auto.
  unfold numbers. cbn [forallb is_num andb map num_of]. rewrite map_map. cbn [num_of]. rewrite map_id.
  destruct (Rv z eq_refl) as [s0 [n0 [u0 [Hz Gz]]]]. unfold round_down_sum.
  set (x := if two_sums r && (1 <? Z.of_nat (length us)) then _ else _).
  assert (X : count x = 0 /\ Design.top x = None).
  { unfold x. destruct (_ && _); [|now apply zeros_partial].
    assert (Ze : forall l, (forall y, In y l -> In y us) -> forallb is_zero l = true) by (intros l Hl; apply forallb_forall; intros y Hy; rewrite forallb_forall in Uz; auto).
    destruct (zeros_partial r (evens us)) as [A1 A2]; auto using second_in. destruct (zeros_partial r (odds us)) as [B1 B2]; auto using odds_in.
    unfold sum_of_sides. cbn [count Design.top]. rewrite A1, A2, B1, B2, !round_div_0. auto. }
  destruct X as [X1 X2]. destruct (is_zero z) eqn:Zz.
  - unfold add_c. cbv zeta. rewrite X1, X2, round_div_0. assert (Cz : forall m v, cut m v z = 0) by (intros; now apply cut_zero). rewrite Cz.
    assert (I0 : forall q : bool, (if q then 0 else 0) = 0) by (now intros []). rewrite I0, Z.mul_0_l, Z.add_0_l, ?round_div_0.
    destruct (cut_again r); rewrite (zero_plain _ s0 n0 u0 z) by auto; apply like_refl.
  - destruct (add_c_nothing r x z s0 n0 u0 P M F Pd Bd X1 X2 Hz Zz) as [y [Hy Ly]]. rewrite Hy. exact Ly.
Qed.

(** The numbers of a block are multiples of the least result. *)
Lemma down_grids d r t v b us x : let g := emin (out (products_sum r)) - p (out (products_sum r)) in
  term_facts d = Some t -> g <= low t - bits t -> carry_bits (products_sum r) = None -> Forall (made_by d) b ->
  numbers (block_products d b ++ [v]) = Some (us ++ [x]) ->
  partial_grid g (if two_sums r && (1 <? Z.of_nat (length us)) then sum_of_sides r (truncated r (evens us)) (truncated r (odds us)) else truncated r us).
Proof.
  intros g T G K Mb Nu. destruct (numbers_app _ _ _ Nu) as [vs [y [Es [_ Eu]]]]. apply app_inj_tail in Es. destruct Es as [<- <-].
  pose proof (block_products_has d t b T Mb) as Hp. rewrite Eu in Hp. apply has_numbers in Hp.
  assert (Mu : Forall (multiple g) us) by (eapply Forall_impl; [|exact Hp]; intros z Hz; now apply (has_multiple t)).
  assert (Me : forall l, (forall z, In z l -> In z us) -> Forall (multiple g) l) by (intros l Hl; apply Forall_forall; intros z Hz; rewrite Forall_forall in Mu; auto).
  destruct (_ && _); [apply sides_grid|]; apply truncated_grid; auto using second_in, odds_in.
Qed.

Lemma down_result d r v b : sums d = RoundedDown r -> down_blocks_ok d = true -> Forall (made_by d) b ->
  (forall x, v = Num x -> multiple (emin (out (products_sum r)) - p (out (products_sum r))) x) -> plain_result (out (products_sum r)) (block_value d v b).
Proof.
  intros S O Mb Mv z H. unfold down_blocks_ok in O. rewrite S in O. destruct (term_facts d) as [t|] eqn:T; [|easy]. cbv zeta in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[[[[[P M] F] U] K] Zn] Hb] Pd] Bd] G1] G2] Oc] Cu] Sk]. apply negb_true_iff in F, Sk. apply Z.leb_le in P, M, Pd, Bd, G1.
  destruct (carry_bits (products_sum r)) eqn:Ks; [easy|]. destruct (cutting_of d) eqn:Cd; try easy. destruct (c_rule d) eqn:Cr; try easy.
  rewrite (down_value d r), taken_kept, Cr, flush_kept in H by (auto; eapply term_facts_zero; eauto).
  unfold on_numbers in H. destruct (numbers (block_products d b ++ [v])) as [ts|] eqn:Nu; [|exfalso; now apply (special_not_num _ z H)].
  destruct (numbers_app _ _ _ Nu) as [us [x [-> [Ev Eu]]]]. pose proof (down_grids d r t v b us x T G1 Ks Mb Nu) as G.
  rewrite Eu, map_map, Ev in H. cbn [num_of] in H. rewrite map_id in H. unfold round_down_sum in H.
  match type of H with add_c _ ?q _ = _ => destruct (add_c_convert r q x) as [s1 [n1 [u1 [C1 [_ C2]]]]] end.
  rewrite C1 in H. do 3 eexists. split; [exact H|]. apply C2; auto.
Qed.

(** Blocks of products of zero after others change nothing: the same word. *)
Theorem down_blocks_idle d bs zs f n : down_blocks_ok d = true -> bs <> [] -> Forall (Forall (made_by d)) bs -> Forall (Forall (made_by d)) zs -> Forall (zero_block d) zs ->
  forall w, encode f n (fold_left (block_value d) (bs ++ zs) (decode (start_format d) w)) = encode f n (fold_left (block_value d) bs (decode (start_format d) w)).
Proof.
  intros O N Mb Mz Z w. rewrite fold_left_app. apply encode_like. destruct (sums d) as [| | | |r| | | |] eqn:S; try (unfold down_blocks_ok in O; now rewrite S in O).
  set (c := out (products_sum r)). set (g := emin c - p c).
  assert (Pc : 0 <= p c /\ emin c <= emax c /\ format_ok (start_format d) = true /\ g <= least (start_format d) - fbits (start_format d)).
  { unfold down_blocks_ok in O. rewrite S in O. destruct (term_facts d); [|easy]. cbv zeta in O. repeat rewrite andb_true_iff in O. repeat split; try tauto; apply Z.leb_le; tauto. }
  destruct Pc as [P [M [Of G]]].
  assert (Step : forall v, plain_result c v -> forall x, v = Num x -> multiple g x).
  { intros v Rv x Hx. destruct (Rv x Hx) as [s0 [n0 [u0 [H _]]]]. now apply (convert_multiple c s0 n0 u0). }
  assert (St : forall x, decode (start_format d) w = Num x -> multiple g x).
  { intros x Hx. destruct (decode_num _ _ _ Of Hx) as [_ [Fr [Le _]]]. unfold multiple, V, lsb. rewrite Fr. apply scaled_multiple. lia. }
  assert (Rv : plain_result c (fold_left (block_value d) bs (decode (start_format d) w))).
  { revert St. generalize (decode (start_format d) w) as v. clear Z Mz. induction Mb as [|b r' Hb Mb IH]; [easy|]. intros v Sv. cbn [fold_left].
    pose proof (down_result d r v b S O Hb Sv) as R1. destruct r' as [|b' r']; [exact R1|]. apply IH; [easy|]. now apply Step. }
  revert Rv. generalize (fold_left (block_value d) bs (decode (start_format d) w)) as x. induction Z as [|b q Hb Z IH]; intros x Rx; [apply like_refl|]. inversion Mz; subst. cbn [fold_left].
  eapply like_trans; [|now apply (down_block_same d r x b)]. apply IH; auto. apply (down_result d r); auto. now apply Step.
Qed.
