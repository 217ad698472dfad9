(** Products that are rounded where they are short enough: neither the mode nor what is tiny matters, and where no product is flushed
    or too large, nor the rounding itself, for sums that see values alone.  What becomes of too large ones, and of subnormal ones, does
    not matter where there are none. *)
From Coq Require Import ZArith List Bool Reals Psatz Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs Zeros Large Operands Stages Flushes.
Import ListNotations.
Open Scope Z_scope.

(** * One number *)

(** Two conversions of one format, whatever they do with numbers between its own. *)
Definition same_format (c c' : conversion) : bool :=
  (p c =? p c') && (emin c =? emin c') && (emax c =? emax c') && Bool.eqb (flushes c) (flushes c') &&
  match zsign c, zsign c' with Positive, Positive | IeeeSign, IeeeSign | SumSign, SumSign => true | _, _ => false end.

(** The result for a number of at most [p] bits. *)
Definition short_result (c : conversion) (s : bool) (n u : Z) : val :=
  let own := Z.log2 (Z.abs n) + u in
  let ex := Z.max own (emin c) - p c in
  if (n =? 0) || flushes c && (own <? emin c)
  then Num {| neg := match zsign c with Positive => false | IeeeSign => true | SumSign => negb (n =? 0) end && s; sig := 0; exp := emin c; frac := p c |}
  else if emax c <? own
  then if is_infinite c n then Inf (n <? 0) else Num {| neg := n <? 0; sig := 2 ^ (p c + 1) - 1; exp := emax c; frac := p c |}
  else Num {| neg := n <? 0; sig := Z.abs n * 2 ^ (u - ex); exp := Z.max own (emin c); frac := Z.max own (emin c) - ex |}.

Lemma round_exact m n k : k <= 0 -> round_div m n k = n * 2 ^ (- k).
Proof. intros K. rewrite round_div_unfold. now destruct (Z.leb_spec k 0); [|lia]. Qed.

Lemma short_convert c s n u : 0 <= p c -> Z.abs n < 2 ^ p c -> flushes c = true \/ emin c - p c <= u ->
  convert c s n u = short_result c s n u.
Proof.
  intros P B G. unfold short_result. destruct (Z.eqb_spec n 0) as [->|N]; cbn [orb].
  { unfold convert. rewrite round_div_0. reflexivity. }
  assert (L : Z.log2 (Z.abs n) < p c) by (apply Z.log2_lt_pow2; lia).
  assert (Ex : forall k, k <= 0 -> round_div (rho c) n k <> 0 /\ Z.log2 (Z.abs (round_div (rho c) n k)) = Z.log2 (Z.abs n) - k /\
    (round_div (rho c) n k <? 0) = (n <? 0) /\ Z.abs (round_div (rho c) n k) = Z.abs n * 2 ^ (- k)).
  { intros k K. rewrite round_exact by auto. pose proof (pow_pos (- k) ltac:(lia)) as P2. repeat split.
    - nia.
    - rewrite log2_shift by lia. lia.
    - apply shift_negative. lia.
    - rewrite Z.abs_mul, (Z.abs_eq (2 ^ _)); lia. }
  set (own := Z.log2 (Z.abs n) + u). unfold convert. assert (E : last_bit c n u = Z.max own (emin c) - p c) by (unfold last_bit; destruct (Z.eqb_spec n 0); easy). rewrite E.
  set (ex := Z.max own (emin c) - p c). destruct (Z.ltb_spec own (emin c)) as [O|O].
  - destruct (Z_le_gt_dec ex u) as [U|U].
    + destruct (Ex (ex - u) ltac:(lia)) as [R0 [R1 [R2 R3]]]. rewrite R1, R2, R3. destruct (Z.eqb_spec (round_div (rho c) n (ex - u)) 0); [easy|]. cbn [orb].
      replace (Z.log2 (Z.abs n) - (ex - u) + ex) with own by (unfold own; lia). destruct (Z.ltb_spec own (emin c)); [|lia]. cbn [orb]. rewrite !andb_true_r.
      replace (- (ex - u)) with (u - ex) by lia. destruct (flushes c); [|reflexivity]. destruct (zsign c); try reflexivity; now destruct (Z.eqb_spec n 0).
    + assert (F : flushes c = true) by (destruct G; [auto|unfold ex in *; lia]). rewrite F. cbn [andb].
      set (r := round_div (rho c) n (ex - u)). assert (Rb : Z.abs r <= 2 ^ (p c - 1)).
      { assert (Q : (Rabs (IZR n * bp (- (ex - u))) <= bp (p c - 1))%R).
        { rewrite Rabs_mult, (Rabs_pos_eq (bp _)), <- abs_IZR by apply bpow_ge_0. apply Rle_trans with (bp (p c) * bp (- (ex - u)))%R; [|rewrite <- bpow_plus; apply bpow_le; lia].
          apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite bp_Z by lia. apply IZR_le. lia. }
        assert (P1 : 0 <= p c - 1) by (destruct (Z.eq_dec (p c) 0) as [P0|]; [rewrite P0 in B; cbn in B; lia|lia]).
        rewrite (bp_Z (p c - 1)) in Q by auto. apply Rabs_le_inv in Q. destruct Q as [Q1 Q2].
        assert (R1 : r <= 2 ^ (p c - 1)).
        { rewrite <- (Z.mul_1_r (2 ^ (p c - 1))). change 1 with (2 ^ (- 0)) at 2. rewrite <- (round_exact (rho c)) by lia. apply round_div_le. cbn [Z.opp]. change (bp 0) with 1%R. lra. }
        assert (R2 : - 2 ^ (p c - 1) <= r).
        { rewrite <- (Z.mul_1_r (- 2 ^ (p c - 1))). change 1 with (2 ^ (- 0)) at 2. rewrite <- (round_exact (rho c)) by lia. apply round_div_le. cbn [Z.opp]. change (bp 0) with 1%R. rewrite opp_IZR. lra. }
        lia. }
      assert (C : ((r =? 0) || ((Z.log2 (Z.abs r) + ex <? emin c) || tiny c && is_tiny c n u)) = true).
      { destruct (Z.eqb_spec r 0) as [|R]; [reflexivity|]. cbn [orb]. apply orb_true_iff. left. apply Z.ltb_lt. assert (Z.log2 (Z.abs r) <= p c - 1); [|unfold ex; lia].
        rewrite <- (Z.log2_pow2 (p c - 1)); [now apply Z.log2_le_mono|]. destruct (Z.eq_dec (p c) 0) as [P0|]; [rewrite P0 in B; cbn in B; lia|lia]. }
      rewrite C. destruct (zsign c); try reflexivity; now destruct (Z.eqb_spec n 0).
  - assert (U : ex - u <= 0) by (unfold ex, own; lia). destruct (Ex (ex - u) U) as [R0 [R1 [R2 R3]]]. rewrite R1, R2, R3.
    destruct (Z.eqb_spec (round_div (rho c) n (ex - u)) 0); [easy|]. cbn [orb]. replace (Z.log2 (Z.abs n) - (ex - u) + ex) with own by (unfold own; lia).
    assert (T : is_tiny c n u = false).
    { unfold is_tiny. cbv zeta. destruct (Ex (Z.log2 (Z.abs n) + u - p c - u) ltac:(lia)) as [_ [-> _]]. apply Z.ltb_ge. unfold own in O. lia. }
    rewrite T, andb_false_r, orb_false_r. destruct (Z.ltb_spec own (emin c)); [lia|]. rewrite andb_false_r.
    replace (- (ex - u)) with (u - ex) by lia. reflexivity.
Qed.

(** * Products of these bounds *)

(** They have at most [p] bits, and none is cut off. *)
Definition short_products (b : bounds) (c : conversion) : bool :=
  (0 <=? p c) && (snd (shape_of b) <=? width b) && (fst (shape_of b) * 2 ^ (width b - snd (shape_of b)) <? 2 ^ p c) &&
  (flushes c || (emin c - p c <=? lowest b - width b)).

Definition none_over (b : bounds) (c : conversion) : bool :=
  Z.log2 (fst (shape_of b)) + Z.max (upto b) (low_upto b) - snd (shape_of b) <=? emax c.

Lemma short_sig b c x : short_products b c = true -> inside b (Num x) -> Z.abs (signed x) < 2 ^ p c.
Proof.
  unfold short_products. intros O I. repeat rewrite andb_true_iff in O. destruct O as [[[P W] S] _]. apply Z.leb_le in P, W. apply Z.ltb_lt in S.
  destruct (I x eq_refl) as [[S0 F] [_ [_ [_ Wx]]]]. assert (A : Z.abs (signed x) = sig x) by (unfold signed; destruct (neg x); lia). rewrite A. clear A.
  eapply Z.le_lt_trans; [|exact S]. apply le_IZR. set (m := fst (shape_of b)) in *. set (n := snd (shape_of b)) in *.
  rewrite mult_IZR, <- bp_Z by lia. destruct (Z.eq_dec (sig x) 0) as [E|E].
  { rewrite E in *. rewrite Rmult_0_l in F. pose proof (bpow_gt_0 radix2 (- n)). pose proof (bpow_gt_0 radix2 (width b - n)). assert (0 <= IZR m)%R by nra. nra. }
  assert (Q : (IZR (sig x) <= IZR m * bp (frac x - n))%R).
  { apply Rmult_le_reg_r with (bp (- frac x)); [apply bpow_gt_0|]. eapply Rle_trans; [exact F|]. right. rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia. }
  eapply Rle_trans; [exact Q|]. apply Rmult_le_compat_l; [|apply bpow_le; lia].
  assert (0 < IZR (sig x))%R by (apply IZR_lt; lia). pose proof (bpow_gt_0 radix2 (frac x - n)). nra.
Qed.

Lemma not_over b c x : none_over b c = true -> inside b (Num x) -> is_zero x = false -> own_exponent x <= emax c.
Proof.
  unfold none_over. intros O I Z. apply Z.leb_le in O. destruct (I x eq_refl) as [[S0 F] [_ [_ [U _]]]]. unfold is_zero in Z. apply Z.eqb_neq in Z.
  set (m := fst (shape_of b)) in *. set (n := snd (shape_of b)) in *. unfold own_exponent. rewrite (Z.abs_eq (sig x)) by lia.
  assert (T : exp x <= Z.max (upto b) (low_upto b)) by (unfold under in U; destruct (low_sig x); lia).
  assert (Q : (IZR (sig x) * bp (lsb x) <= IZR m * bp (exp x - n))%R).
  { replace (lsb x) with (- frac x + exp x) by (unfold lsb; lia). replace (exp x - n) with (- n + exp x) by lia. rewrite !bpow_plus, <- !Rmult_assoc. apply Rmult_le_compat_r; [apply bpow_ge_0|exact F]. }
  assert (M : 0 < m). { apply lt_IZR. assert (0 < IZR (sig x))%R by (apply IZR_lt; lia). pose proof (bpow_gt_0 radix2 (lsb x)). pose proof (bpow_gt_0 radix2 (exp x - n)). nra. }
  destruct (Z.log2_spec (sig x) ltac:(lia)) as [L1 _]. destruct (Z.log2_spec m M) as [_ L2].
  apply IZR_le in L1. apply IZR_lt in L2. rewrite <- bp_Z in L1, L2 by (pose proof (Z.log2_nonneg (sig x)); pose proof (Z.log2_nonneg m); lia).
  assert (K : (bp (Z.log2 (sig x) + lsb x) < bp (Z.succ (Z.log2 m) + (exp x - n)))%R).
  { rewrite !bpow_plus. eapply Rle_lt_trans; [apply Rmult_le_compat_r; [apply bpow_ge_0|exact L1]|]. eapply Rle_lt_trans; [exact Q|]. apply Rmult_lt_compat_r; [apply bpow_gt_0|exact L2]. }
  apply lt_bpow in K. lia.
Qed.

(** No product but zero is below the power of two that all are multiples of. *)
Lemma above_grid b x : inside b (Num x) -> is_zero x = false -> grid b <= own_exponent x.
Proof.
  intros I Z. destruct (I x eq_refl) as [[S _] [_ [[q Q] _]]]. unfold is_zero in Z. apply Z.eqb_neq in Z. unfold own_exponent. assert (A : Z.abs (signed x) = sig x) by (unfold signed; destruct (neg x); lia).
  rewrite (Z.abs_eq (sig x)) by lia. assert (Z.max 0 (grid b - lsb x) <= Z.log2 (sig x)); [|lia]. rewrite <- (Z.log2_pow2 (Z.max 0 (grid b - lsb x))) by lia. apply Z.log2_le_mono.
  assert (P2 : 0 < 2 ^ Z.max 0 (grid b - lsb x)) by (apply Z.pow_pos_nonneg; lia). rewrite <- A, Q. revert P2 Q. generalize (2 ^ Z.max 0 (grid b - lsb x)). intros k Pk Q.
  assert (q <> 0) by (intros ->; lia). rewrite Z.abs_mul, (Z.abs_eq k) by lia. nia.
Qed.

(** A rounding that flushes nothing, where no product is subnormal. *)
Definition unflushed (b : bounds) (c : conversion) : conversion := if (0 <=? p c) && (emin c <=? grid b) then kept_results c else c.

Lemma unflushed_ok b c x : inside b (Num x) -> round_num (Floating (unflushed b c)) x = round_num (Floating c) x.
Proof.
  intros I. unfold unflushed. destruct (_ && _) eqn:O; [|reflexivity]. apply andb_prop in O. destruct O as [P G]. apply Z.leb_le in P, G. unfold round_num, round_to. apply convert_kept; auto.
  intros N. assert (Z : is_zero x = false) by (unfold is_zero; apply Z.eqb_neq; unfold signed in N; destruct (neg x); lia).
  pose proof (above_grid b x I Z) as A. unfold own_exponent in A. replace (Z.abs (signed x)) with (Z.abs (sig x)) by (unfold signed; destruct (neg x); lia). lia.
Qed.

(** Two roundings that give the same of them. *)
Definition same_short (b : bounds) (c c' : conversion) : bool :=
  short_products b c && same_format c c' && (none_over b c || always_infinite c && always_infinite c').

Definition conversion_eq (c c' : conversion) : {c = c'} + {c <> c'}.
Proof. repeat decide equality. Defined.

(** The same but for what becomes of numbers that are too large, which none is. *)
Definition same_below (b : bounds) (c c' : conversion) : bool :=
  range_ok c && (ceiling b <=? emax c) && if conversion_eq (with_overflow c (overflow c')) c' then true else false.

Definition same_rounding (b : bounds) (c c' : conversion) : bool :=
  let c := unflushed b c in let c' := unflushed b c' in same_short b c c' || same_below b c c'.

Lemma short_round b c x : short_products b c = true -> inside b (Num x) -> round_num (Floating c) x = short_result c (neg x) (signed x) (lsb x).
Proof.
  intros O I. pose proof (short_sig b c x O I) as S. unfold short_products in O. repeat rewrite andb_true_iff in O. destruct O as [[[P W] _] F]. apply Z.leb_le in P.
  apply short_convert; auto. apply orb_prop in F. destruct F as [F|F]; [now left|right]. apply Z.leb_le in F.
  destruct (I x eq_refl) as [_ [L [_ [_ Wx]]]]. unfold lsb. lia.
Qed.

Lemma always_is_infinite c n : always_infinite c = true -> is_infinite c n = true.
Proof. unfold always_infinite, is_infinite. now destruct (overflow c), (rho c). Qed.

Lemma same_below_ok b c c' x : same_below b c c' = true -> inside b (Num x) -> round_num (Floating c') x = round_num (Floating c) x.
Proof.
  unfold same_below. intros O I. repeat rewrite andb_true_iff in O. destruct O as [[R T] E]. destruct (conversion_eq _ c') as [<-|]; [|easy]. clear E.
  unfold range_ok in R. apply andb_prop in R. destruct R as [P M]. apply Z.leb_le in P, M, T. unfold round_num, round_to. apply any_overflow; auto.
  change (IZR (signed x) * bp (lsb x))%R with (V x). eapply Rle_trans; [exact (num_ceiling b x I)|]. eapply Rle_trans; [apply bpow_le; exact T|].
  now apply (max_between c P).
Qed.

Lemma same_short_ok b c c' x : same_short b c c' = true -> inside b (Num x) -> round_num (Floating c') x = round_num (Floating c) x.
Proof.
  unfold same_short. intros O I. repeat rewrite andb_true_iff in O. destruct O as [[Sh Sf] Ov]. rewrite (short_round b c x Sh I).
  unfold same_format in Sf. repeat rewrite andb_true_iff in Sf. destruct Sf as [[[[P M] E] F] Zs]. apply Z.eqb_eq in P, M, E. apply eqb_prop in F.
  assert (Sh' : short_products b c' = true) by (unfold short_products in *; now rewrite <- P, <- M, <- F).
  rewrite (short_round b c' x Sh' I). unfold short_result. rewrite <- P, <- M, <- E, <- F.
  replace (zsign c') with (zsign c) by (destruct (zsign c), (zsign c'); easy).
  destruct (Z.eqb_spec (signed x) 0) as [N|N]; [reflexivity|]. cbn [orb]. destruct (flushes c && _); [reflexivity|]. destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs (signed x)) + lsb x)) as [V|V]; [|reflexivity].
  apply orb_prop in Ov. destruct Ov as [Ov|Ov].
  - exfalso. assert (is_zero x = false) by (unfold is_zero; apply Z.eqb_neq; unfold signed in N; destruct (neg x); lia). pose proof (not_over b c x Ov I H) as Q.
    unfold own_exponent in Q. replace (Z.abs (sig x)) with (Z.abs (signed x)) in Q by (unfold signed; destruct (neg x); lia). lia.
  - apply andb_prop in Ov. destruct Ov as [A A']. now rewrite !always_is_infinite.
Qed.

Lemma same_rounding_ok b c c' x : same_rounding b c c' = true -> inside b (Num x) -> round_num (Floating c') x = round_num (Floating c) x.
Proof.
  unfold same_rounding. intros O I. rewrite <- (unflushed_ok b c x I), <- (unflushed_ok b c' x I).
  apply orb_prop in O. destruct O as [O|O]; [now apply (same_short_ok b)|now apply (same_below_ok b)].
Qed.

(** A rounding that leaves the value of each as it is. *)
Definition exact_rounding (b : bounds) (c : conversion) : bool :=
  short_products b c && none_over b c && (negb (flushes c) || (emin c <=? grid b)) && (emin c - p c <=? lowest b - width b) &&
  match zsign c with IeeeSign => true | _ => false end.

Lemma exact_rounding_ok b c x : exact_rounding b c = true -> inside b (Num x) -> finer_val (Num x) (round_num (Floating c) x).
Proof.
  unfold exact_rounding. intros O I. repeat rewrite andb_true_iff in O. destruct O as [[[[Sh Ov] Fl] Lo] Zs]. rewrite (short_round b c x Sh I). apply Z.leb_le in Lo.
  pose proof (short_sig b c x Sh I) as S. destruct (I x eq_refl) as [[S0 _] [L [M [_ Wx]]]]. assert (Gx : emin c - p c <= lsb x) by (unfold lsb; lia).
  destruct (zsign c) eqn:Zc; try easy. unfold short_result. rewrite Zc. destruct (Z.eqb_spec (signed x) 0) as [N|N]; cbn [orb].
  - split; [cbn; reflexivity|]. exists (lsb x - (emin c - p c)). unfold signed in N. assert (sig x = 0) as -> by (destruct (neg x); lia). unfold lsb in *. cbn. lia.
  - assert (Nz : is_zero x = false) by (unfold is_zero; apply Z.eqb_neq; unfold signed in N; destruct (neg x); lia).
    assert (As : Z.abs (signed x) = sig x) by (unfold signed; destruct (neg x); lia). rewrite As in *. set (own := Z.log2 (sig x) + lsb x).
    assert (F : flushes c && (own <? emin c) = false).
    { apply orb_prop in Fl. destruct Fl as [Fl|Fl]; [apply negb_true_iff in Fl; now rewrite Fl|]. apply Z.leb_le in Fl. apply andb_false_iff. right. apply Z.ltb_ge.
      pose proof (above_grid b x I Nz) as A. unfold own_exponent in A. rewrite (Z.abs_eq (sig x)) in A by lia. unfold own. lia. }
    rewrite F. pose proof (not_over b c x Ov I Nz) as V. unfold own_exponent in V. rewrite (Z.abs_eq (sig x)) in V by lia.
    destruct (Z.ltb_spec (emax c) own); [unfold own in *; lia|]. split; [cbn [neg]; unfold signed in *; destruct (neg x); [apply Z.ltb_lt|apply Z.ltb_ge]; lia|].
    exists (lsb x - (Z.max own (emin c) - p c)). unfold short_products in Sh. repeat rewrite andb_true_iff in Sh. destruct Sh as [[[P _] _] _]. apply Z.leb_le in P.
    assert (Z.log2 (sig x) < p c) by (apply Z.log2_lt_pow2; lia). split; [unfold own; lia|]. split; [reflexivity|]. unfold lsb at 1. cbn [exp frac]. lia.
Qed.

(** * Designs *)

(** The same design with another rounding of products, or none. *)
Definition with_rounding (d : design) (r : option rounding) : design :=
  let q := factors d in
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d;
     converted := converted d;
     factors := {| of_a := of_a q; of_b := of_b q; normalise_factors := normalise_factors q; exponent_step := exponent_step q; zero_terms := zero_terms q;
                   odd_negated := odd_negated q; even_negated := even_negated q; product_limit := product_limit q; product_rounding := r |};
     cutting_of := cutting_of d; block := block d; odd_first := odd_first d; skips := skips d; c_rule := c_rule d; sums := sums d;
     nan_word := nan_word d; nans := nans d; composed := composed d |}.

Definition rounding_free (d : design) (r : option rounding) : bool :=
  (0 <? Z.of_nat (block d)) && match cutting_of d, composed d with Whole, None => true | _, _ => false end &&
  match product_rounding (factors d), exact_bounds d, r with
  | Some (Floating c), Some b, Some (Floating c') => same_rounding b c c'
  | Some (Floating c), Some b, None => exact_rounding b c && value_summation (sums d) && one_nan d
  | _, _, _ => false
  end.

Lemma same_rule d : with_rounding d (product_rounding (factors d)) = d.
Proof. destruct d as [? ? ? ? ? ? [] ? ? ? ? ? ? ? ? ?]. reflexivity. Qed.

(** Products with another rounding: where a sum sees values alone, of the same values. *)
Lemma rounded_products d r l : rounding_free d r = true -> Forall (made_by d) l ->
  if match r with Some _ => true | None => false end then block_products (with_rounding d r) l = block_products d l
  else Forall2 finer_val (block_products (with_rounding d r) l) (block_products d l) /\ value_summation (sums d) = true /\ one_nan d = true.
Proof.
  intros O F. unfold rounding_free in O. apply andb_prop in O. destruct O as [_ O].
  destruct (product_rounding (factors d)) as [[c|]|] eqn:R; try easy. destruct (exact_bounds d) as [t|] eqn:E; [|easy].
  assert (Bd : block_products d l = block_products (with_rounding d (Some (Floating c))) l) by (now rewrite <- R, same_rule). rewrite Bd. clear Bd.
  set (exact := fun x => fold_left product (scaled_by x) (if subtracted (factors d) (index x) then negate (product (a_of d x) (b_of d x)) else product (a_of d x) (b_of d x))).
  set (over := fun y => match product_limit (factors d) with Some l => negb (is_zero y) && (l <=? own_exponent y) | None => false end).
  assert (T : forall q x, In x (ordered d l) -> inside t (exact x) /\ scaled_product (factors (with_rounding d q)) (a_of d x) (b_of d x) (index x) (scaled_by x) =
    match exact x with Num y => if over y then Inf (neg y) else match q with Some r => round_num r y | None => Num y end | v => v end).
  { intros q x Hx. assert (M : made_by d x).
    { rewrite Forall_forall in F. apply F. unfold ordered in Hx. destruct (odd_first d); auto. now apply swapped_incl. }
    destruct (exact_inside d t x E M) as [Zt I]. split; [exact I|]. unfold scaled_product. cbn [factors with_rounding zero_terms product_limit product_rounding].
    rewrite Zt, zero_as_none. unfold exact. fold (subtracted (factors d)). change (subtracted {| of_a := _ |}) with (subtracted (factors d)).
    now destruct (fold_left product _ _). }
  assert (B : forall q, block_products (with_rounding d q) l = map (fun x => scaled_product (factors (with_rounding d q)) (a_of d x) (b_of d x) (index x) (scaled_by x)) (ordered d l)) by reflexivity.
  rewrite !B. destruct r as [[c'|]|]; try easy.
  - apply map_ext_in. intros x Hx. destruct (T (Some (Floating c)) x Hx) as [I ->]. destruct (T (Some (Floating c')) x Hx) as [_ ->].
    destruct (exact x) as [y| |]; auto. destruct (over y); auto. now apply same_rounding_ok with t.
  - repeat rewrite andb_true_iff in O. destruct O as [[O V] On]. split; [|auto]. clear B F. induction (ordered d l) as [|x r IH]; cbn [map]; constructor.
    + destruct (T (Some (Floating c)) x ltac:(now left)) as [I ->]. destruct (T None x ltac:(now left)) as [_ ->].
      destruct (exact x) as [y| |]; try apply finer_val_refl. destruct (over y); [reflexivity|]. now apply exact_rounding_ok with t.
    + apply IH. intros q y Hy. apply T. now right.
Qed.

(** Roundings of products that are short enough: the same word with another mode, or none. *)
Theorem product_rounding_idle d r w : rounding_free d r = true -> pairs w <> [] -> compute d w = compute (with_rounding d r) w.
Proof.
  intros O N. pose proof O as O'. unfold rounding_free in O'. repeat rewrite andb_true_iff in O'. destruct O' as [[B W] _]. apply Z.ltb_lt in B.
  destruct (cutting_of d) eqn:Cu; try easy. destruct (composed d) eqn:Co; [easy|]. symmetry. set (d' := with_rounding d r).
  assert (T : forall q b, terms (with_rounding d q) (ordered d b) = (block_products (with_rounding d q) b, None)).
  { intros q b. unfold terms. change (cutting_of (with_rounding d q)) with (cutting_of d). now rewrite Cu. }
  assert (T0 : forall b, terms d (ordered d b) = (block_products d b, None)) by (intros b; pose proof (T (product_rounding (factors d)) b) as T0; rewrite same_rule in T0; exact T0).
  destruct r as [r|].
  - (* the same terms, and so the same words of NaNs *)
    assert (E : forall b st, Forall (made_by d) b -> block_step d' st b = block_step d st b).
    { intros b [v n] Mb. pose proof (rounded_products d (Some r) b O Mb) as P. cbv iota in P. specialize (T (Some r) b). specialize (T0 b). rewrite P, <- T0 in T. fold d' in T.
      unfold ordered in T. unfold block_step. change (skips d') with (skips d). destruct (skips d && _); [reflexivity|]. change (odd_first d') with (odd_first d). rewrite T. reflexivity. }
    unfold compute. change (composed d') with (composed d). rewrite Co. change (elements d' w) with (elements d w). change (start_of d' (c_word w)) with (start_of d (c_word w)).
    change (d_format d') with (d_format d). unfold blocks. change (block d') with (block d).
    pose proof (cut_list_Forall (made_by d) (block d) (length (elements d w)) (elements d w) (elements_made d w)) as Fb. revert Fb.
    generalize (cut_list (length (elements d w)) (block d) (elements d w)) (start_of d (c_word w)). intros bs st Fb.
    assert (G : fold_left (block_step d') bs st = fold_left (block_step d) bs st) by (revert st; induction Fb as [|b bs Mb Fb IH]; intros st; [reflexivity|]; cbn [fold_left]; rewrite E by auto; apply IH).
    now rewrite G.
  - assert (On : one_nan d = true) by (exact (proj2 (proj2 (rounded_products d None [] O (Forall_nil _))))).
    apply (compute_alike d d' (fun _ => True)); try exact On; try exact N; [repeat split|lia| |unfold parts_ok; now rewrite Co|exact I].
    intros b v _ Mb _. split; [|exact I]. unfold block_value. change (skipped d' b) with (skipped d b). destruct (skipped d b); [reflexivity|].
    change (ordered d' b) with (ordered d b). unfold d'. rewrite T, T0. change (taken_c (with_rounding d None) v) with (taken_c d v).
    change (sums (with_rounding d None)) with (sums d). change (c_rule (with_rounding d None)) with (c_rule d). change (whole_factors (with_rounding d None)) with (whole_factors d).
    cbn [fst snd]. destruct (rounded_products d None b O Mb) as [P [V _]]. symmetry. now apply block_sum_finer.
Qed.
