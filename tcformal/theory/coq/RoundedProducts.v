(** Products of so few bits that every rounding of them is exact, or makes them zeros. *)
From Coq Require Import ZArith List Bool Reals Psatz Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Words Values Irrelevant AtOnce Mirror Axes Zeros Stages StepNans.
Import ListNotations.
Open Scope Z_scope.

Definition plain_mode (c : conversion) : conversion :=
  {| rho := RZ; p := p c; emin := emin c; emax := emax c; overflow := overflow c; flushes := flushes c; tiny := false; zsign := zsign c |}.

Lemma small_rounding m n k t : 0 < k -> Z.abs n < 2 ^ t -> 0 <= t -> Z.abs (round_div m n k) <= 2 ^ Z.max 0 (t - k).
Proof.
  intros K N T. rewrite round_div_ok. set (j := Z.max 0 (t - k)).
  assert (B : (Rabs (IZR n * bp (- k)) <= IZR (2 ^ j))%R).
  { rewrite Rabs_mult, (Rabs_pos_eq (bp (- k))), <- abs_IZR by apply bpow_ge_0. rewrite <- bp_Z by (unfold j; lia). apply Rle_trans with (bp t * bp (- k))%R.
    - apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite bp_Z by lia. apply IZR_le. lia.
    - rewrite <- bpow_plus. apply bpow_le. unfold j. lia. }
  apply Rabs_le_inv in B. destruct B as [B1 B2]. rewrite <- opp_IZR in B1.
  pose proof (@Zrnd_le (rnd m) (valid_rnd_mode m) _ _ B1) as H1. pose proof (@Zrnd_le (rnd m) (valid_rnd_mode m) _ _ B2) as H2.
  rewrite Zrnd_IZR in H1, H2 by auto with typeclass_instances. lia.
Qed.

(** A number of at most [p] bits: exact where it is normal, and otherwise a zero. *)
Lemma few_bits c s n u : 1 <= p c -> Z.abs n < 2 ^ p c -> flushes c = true -> match overflow c with Directed => false | _ => true end = true ->
  convert (plain_mode c) s n u = convert c s n u.
Proof.
  intros P N F O. destruct (Z.eq_dec n 0) as [->|Nz].
  { unfold convert. rewrite !round_div_0. reflexivity. }
  unfold convert. change (last_bit (plain_mode c) n u) with (last_bit c n u). cbn [rho p emin emax overflow flushes tiny zsign plain_mode].
  assert (I : is_infinite (plain_mode c) n = is_infinite c n) by (unfold is_infinite; cbn [overflow plain_mode]; destruct (overflow c); easy). rewrite I, F. cbn [andb].
  pose proof (Z.log2_lt_pow2 (Z.abs n) (p c) ltac:(lia)) as L. apply L in N as Lg. clear L.
  unfold last_bit. destruct (Z.eqb_spec n 0); [easy|]. destruct (Z.max_spec (Z.log2 (Z.abs n) + u) (emin c)) as [[G ->]|[G ->]].
  - assert (Z : forall m, (round_div m n (emin c - p c - u) =? 0) || (Z.log2 (Z.abs (round_div m n (emin c - p c - u))) + (emin c - p c) <? emin c) = true).
    { intros m. destruct (Z.eqb_spec (round_div m n (emin c - p c - u)) 0) as [R|R]; [reflexivity|]. cbn [orb]. apply Z.ltb_lt.
      destruct (Z.le_gt_cases (emin c - p c - u) 0) as [K|K].
      - rewrite exact_log; [lia|rewrite Z.max_l by lia; apply Z.divide_1_l|exact Nz].
      - pose proof (small_rounding m n _ (p c) K N ltac:(lia)) as B. assert (Z.log2 (Z.abs (round_div m n (emin c - p c - u))) <= Z.max 0 (p c - (emin c - p c - u))); [|lia].
        rewrite <- (Z.log2_pow2 (Z.max 0 (p c - (emin c - p c - u)))) by lia. now apply Z.log2_le_mono. }
    rewrite orb_false_r, orb_assoc, !Z. reflexivity.
  - set (ex := Z.log2 (Z.abs n) + u - p c). assert (K : ex - u <= 0) by (unfold ex; lia).
    assert (E : forall m, round_div m n (ex - u) = Z.shiftl n (- (ex - u))) by (intros m; unfold round_div; destruct (Z.leb_spec (ex - u) 0); [reflexivity|lia]).
    unfold is_tiny. fold ex. rewrite !E. set (r := Z.shiftl n (- (ex - u))). destruct (r =? 0); [reflexivity|]. cbn [orb].
    destruct (Z.log2 (Z.abs r) + ex <? emin c); cbn [orb]; now rewrite ?andb_false_r.
Qed.

Definition with_products (d : design) (r : option rounding) : design :=
  let q := factors d in
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d; converted := converted d;
     factors := {| of_a := of_a q; of_b := of_b q; normalise_factors := normalise_factors q; exponent_step := exponent_step q; zero_terms := zero_terms q;
                   odd_negated := odd_negated q; even_negated := even_negated q; product_limit := product_limit q; product_rounding := r |};
     cutting_of := cutting_of d; block := block d; odd_first := odd_first d; skips := skips d; c_rule := c_rule d; sums := sums d;
     nan_word := nan_word d; nans := nans d; composed := composed d |}.

Definition few_product_bits (d : design) : option conversion :=
  match product_rounding (factors d), exact_bounds d, cutting_of d, composed d with
  | Some (Floating c), Some tb, Whole, None =>
      if (0 <? Z.of_nat (block d)) && (1 <=? p c) && flushes c && match overflow c with Directed => false | _ => true end && (0 <=? width tb - snd (shape_of tb)) &&
         (fst (shape_of tb) * 2 ^ (width tb - snd (shape_of tb)) <? 2 ^ p c)
      then Some (plain_mode c) else None
  | _, _, _, _ => None
  end.

(** Products of few bits do not tell how they are rounded. *)
Theorem product_mode_idle d c w : few_product_bits d = Some c -> compute d w = compute (with_products d (Some (Floating c))) w.
Proof.
  unfold few_product_bits. intros O. destruct (product_rounding (factors d)) as [[c0|]|] eqn:Pr; try discriminate O. destruct (exact_bounds d) as [tb|] eqn:T; [|discriminate O].
  destruct (cutting_of d) eqn:W; try discriminate O. destruct (composed d) eqn:Co; [discriminate O|]. destruct (_ && _) eqn:G in O; [|discriminate O]. injection O as <-.
  repeat rewrite andb_true_iff in G. destruct G as [[[[[B P] F] Ov] Wd] Q]. apply Z.ltb_lt in B, Q. apply Z.leb_le in P, Wd. set (d' := with_products d (Some (Floating (plain_mode c0)))).
  assert (One : forall x, made_by d x -> scaled_product (factors d') (a_of d' x) (b_of d' x) (index x) (scaled_by x) = scaled_product (factors d) (a_of d x) (b_of d x) (index x) (scaled_by x)).
  { intros x M. destruct (exact_inside d tb x T M) as [Zt I]. unfold scaled_product. change (a_of d' x) with (a_of d x). change (b_of d' x) with (b_of d x).
    change (zero_terms (factors d')) with (zero_terms (factors d)). change (subtracted (factors d') (index x)) with (subtracted (factors d) (index x)). change (product_limit (factors d')) with (product_limit (factors d)).
    rewrite Zt, zero_as_none, Pr. cbv zeta. destruct (fold_left product _ _) as [y| |]; auto. destruct (match product_limit (factors d) with Some l => _ | None => false end); auto.
    unfold round_num, round_to. cbn [product_rounding factors d' with_products].
    destruct (I y eq_refl) as [[Sy Fy] [_ [_ [_ Wy]]]].
    assert (L : Z.abs (signed y) < 2 ^ p c0).
    { assert (Ab : Z.abs (signed y) = sig y) by (unfold signed; destruct (neg y); lia). rewrite Ab. apply Z.le_lt_trans with (fst (shape_of tb) * 2 ^ (width tb - snd (shape_of tb))); [|exact Q].
      apply le_IZR. rewrite mult_IZR, <- bp_Z by lia. apply Rmult_le_reg_r with (bp (- width tb)); [apply bpow_gt_0|]. rewrite Rmult_assoc, <- bpow_plus.
      replace (width tb - snd (shape_of tb) + - width tb) with (- snd (shape_of tb)) by lia. eapply Rle_trans; [|exact Fy]. apply Rmult_le_compat_l; [now apply IZR_le|]. apply bpow_le. lia. }
    now apply few_bits. }
  assert (Tm : forall b, Forall (made_by d) b -> terms d' b = terms d b).
  { intros b M. unfold terms. change (cutting_of d') with (cutting_of d). rewrite W. f_equal. apply map_ext_in. intros x Hx. rewrite Forall_forall in M. now apply One, M. }
  unfold compute. change (composed d') with (composed d). rewrite Co. change (elements d' w) with (elements d w). change (start_of d' (c_word w)) with (start_of d (c_word w)). change (d_format d') with (d_format d).
  unfold blocks. change (block d') with (block d).
  pose proof (cut_list_Forall (made_by d) (block d) (length (elements d w)) (elements d w) (elements_made d w)) as Fb.
  assert (G : forall bs st, Forall (Forall (made_by d)) bs -> fold_left (block_step d') bs st = fold_left (block_step d) bs st).
  { induction bs as [|b bs IH]; intros [v n] M; [reflexivity|]. apply Forall_cons_iff in M. destruct M as [Mb M]. cbn [fold_left].
    assert (E : block_step d' (v, n) b = block_step d (v, n) b); [|rewrite E; now apply IH].
    unfold block_step. change (skips d') with (skips d). destruct (skips d && _); [reflexivity|]. change (odd_first d') with (odd_first d).
    rewrite Tm; [reflexivity|]. apply Forall_forall. intros x Hx. rewrite Forall_forall in Mb. apply Mb. destruct (odd_first d); auto. now apply swapped_incl. }
  now rewrite G.
Qed.
