(** Blocks of products of zero leave what a block before them gave as it is. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs.
Import ListNotations.
Open Scope Z_scope.

(** * Numbers of one word *)

(** The same sign, exponent and significand, which may be written with other fraction bits. *)
Definition like (x y : num) : Prop :=
  neg x = neg y /\ exp x = exp y /\ (IZR (sig x) * bp (- frac x) = IZR (sig y) * bp (- frac y))%R.

Definition like_val (v w : val) : Prop := match v, w with Num x, Num y => like x y | Inf s, Inf t => s = t | NaN, NaN => True | _, _ => False end.

Lemma like_refl v : like_val v v.
Proof. destruct v; cbn; repeat split; auto. Qed.

Lemma like_trans u v w : like_val u v -> like_val v w -> like_val u w.
Proof.
  destruct u, v, w; cbn; try easy; try congruence. unfold like. intros [A [B C]] [A' [B' C']]. repeat split; congruence.
Qed.

Lemma encode_like f n v w : like_val v w -> encode f n v = encode f n w.
Proof.
  destruct v as [x|s|], w as [y|t|]; cbn [like_val]; try easy; [|now intros <-]. intros [A [B C]]. unfold encode.
  assert (E : round_div RZ (sig x) (frac x - fbits f) = round_div RZ (sig y) (frac y - fbits f)).
  { rewrite !round_div_ok. f_equal. replace (- (frac x - fbits f)) with (- frac x + fbits f) by lia. replace (- (frac y - fbits f)) with (- frac y + fbits f) by lia.
    rewrite !bpow_plus, <- !Rmult_assoc. now rewrite C. }
  now rewrite E, A, B.
Qed.

(** * What a conversion gives, it gives again *)

Lemma halved m k : round_div m (2 * k) 1 = k.
Proof.
  rewrite round_div_unfold. cbn [Z.leb Z.compare]. change (2 ^ 1) with 2. rewrite Z.mul_comm, Z.mod_mul, Z.div_mul by lia. reflexivity.
Qed.

Lemma convert_again c s t n u z : 0 <= p c -> emin c <= emax c -> flushes c = false -> convert c s n u = Num z -> is_zero z = false ->
  exists y, convert c t (signed z) (lsb z) = Num y /\ like y z.
Proof.
  intros P M F H Z. destruct (convert_shape _ _ _ _ _ P M H) as [[E1 E2] Sh]. unfold is_zero in Z. apply Z.eqb_neq in Z.
  assert (Sg : 0 < sig z) by (destruct Sh as [[_ [? _]]|[_ ->]]; [lia|apply Z.pow_pos_nonneg; lia]).
  assert (Ab : Z.abs (signed z) = sig z) by (unfold signed; destruct (neg z); lia).
  assert (Ng : (signed z <? 0) = neg z) by (unfold signed; destruct (neg z); lia).
  assert (Nz : signed z <> 0) by lia.
  assert (L : last_bit c (signed z) (lsb z) = exp z - p c).
  { unfold last_bit. destruct (Z.eqb_spec (signed z) 0); [easy|]. rewrite Ab. unfold lsb. destruct Sh as [[-> [S1 [S2|S2]]]|[-> ->]].
    - assert (Z.log2 (sig z) < p c + 1) by (apply Z.log2_lt_pow2; lia). lia.
    - assert (Z.log2 (sig z) = p c) as ->; [|lia]. apply Z.log2_unique; [lia|]. rewrite <- Z.add_1_r. lia.
    - rewrite Z.log2_pow2 by lia. lia. }
  assert (R : exists r, round_div (rho c) (signed z) (exp z - p c - lsb z) = r /\ r <> 0 /\ (r <? 0) = neg z /\
    (IZR (Z.abs r) * bp (- p c) = IZR (sig z) * bp (- frac z))%R /\ Z.max (Z.log2 (Z.abs r) + (exp z - p c)) (emin c) = exp z).
  { unfold lsb. destruct Sh as [[Fz [S1 S2]]|[Fz S1]]; rewrite Fz.
    - exists (signed z). replace (exp z - p c - (exp z - p c)) with 0 by lia. split; [reflexivity|]. rewrite Ab. repeat split; auto.
      destruct S2 as [S2|S2].
      + assert (Z.log2 (sig z) < p c + 1) by (apply Z.log2_lt_pow2; lia). lia.
      + assert (Z.log2 (sig z) = p c) as ->; [|lia]. apply Z.log2_unique; [lia|]. rewrite <- Z.add_1_r. lia.
    - assert (Pw : 0 < 2 ^ p c) by (apply Z.pow_pos_nonneg; lia).
      assert (Dbl : 2 ^ (p c + 1) = 2 * 2 ^ p c) by (rewrite Z.add_1_r, Z.pow_succ_r; lia).
      exists (if neg z then - 2 ^ p c else 2 ^ p c). replace (exp z - p c - (exp z - (p c + 1))) with 1 by lia. unfold signed. rewrite S1.
      split. { destruct (neg z); rewrite Dbl; [replace (- (2 * 2 ^ p c)) with (2 * - 2 ^ p c) by lia|]; apply halved. }
      assert (A : Z.abs (if neg z then - 2 ^ p c else 2 ^ p c) = 2 ^ p c) by (destruct (neg z); lia). rewrite A, Z.log2_pow2 by lia.
      split; [destruct (neg z); lia|]. split; [destruct (neg z); lia|]. split; [|lia].
      rewrite Dbl, mult_IZR. replace (- p c) with (1 + - (p c + 1)) by lia. rewrite (bpow_plus radix2 1). change (bp 1) with 2%R. ring. }
  destruct R as [r [R1 [R2 [R3 [R4 R5]]]]]. unfold convert. rewrite L, R1, F. cbn [andb]. rewrite orb_false_r.
  destruct (Z.eqb_spec r 0); [easy|]. destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + (exp z - p c))) as [O|O]; [lia|].
  eexists. split; [reflexivity|]. unfold like. cbn [neg exp sig frac]. rewrite R5. repeat split; auto. replace (exp z - (exp z - p c)) with (p c) by lia. exact R4.
Qed.

Lemma result_multiple c s n u z g : 0 <= p c -> emin c <= emax c -> convert c s n u = Num z -> g <= exp z - p c -> multiple g z.
Proof.
  intros P M H L. destruct (convert_shape _ _ _ _ _ P M H) as [_ Sh]. unfold multiple, V, lsb. destruct Sh as [[Fz _]|[Fz Sz]]; rewrite Fz.
  - now apply scaled_multiple.
  - assert (G : exists i, (IZR (signed z) * bp (exp z - (p c + 1)) = IZR i * bp (exp z - p c))%R).
    { exists (if neg z then - 2 ^ p c else 2 ^ p c). unfold signed. rewrite Sz.
      replace (exp z - p c) with (1 + (exp z - (p c + 1))) by lia. rewrite (bpow_plus radix2 1). change (bp 1) with 2%R.
      assert (T : (IZR (2 ^ (p c + 1)) = IZR (2 ^ p c) * 2)%R) by (rewrite Z.pow_add_r, mult_IZR by lia; reflexivity).
      destruct (neg z); rewrite ?opp_IZR, T; ring. }
    destruct G as [i ->]. now apply scaled_multiple.
Qed.

(** * Blocks of zeros *)

Definition result_of (c : conversion) (v : val) : Prop := forall z, v = Num z -> exists s n u, convert c s n u = Num z.

Lemma sum_result s vs : result_of (out s) (sum_values s vs).
Proof.
  intros z H. unfold sum_values in H. destruct (numbers vs); [|exfalso; now apply (special_not_num vs z)]. unfold sum_numbers in H. eauto.
Qed.

Definition zero_block (d : design) (b : list element) : Prop := Forall plus_zero (block_products d b).

Definition zero_blocks_ok (d : design) : bool :=
  match sum_of d with
  | Some s => (0 <=? p (out s)) && (emin (out s) <=? emax (out s)) && negb (flushes (out s)) && negb (normalise s) &&
      match carry_bits s with None => true | _ => false end && match zsign (out s) with Positive => true | _ => false end &&
      match fraction_bits s with Some f => p (out s) <=? f | None => false end && zero_at_most s (emin (out s)) &&
      match c_rule d with Kept => true | _ => false end && match zero_terms (factors d) with None => true | _ => false end &&
      match composed d with None => true | _ => false end
  | None => false
  end.

Lemma convert_zero_result c s n u z t v : 0 <= p c -> zsign c = Positive -> convert c s n u = Num z -> is_zero z = true -> convert c t 0 v = Num z.
Proof.
  intros P Zs H Zz. unfold is_zero in Zz. apply Z.eqb_eq in Zz.
  assert (E : convert c t 0 v = Num {| neg := false; sig := 0; exp := emin c; frac := p c |}).
  { unfold convert. rewrite round_div_0, Zs. reflexivity. }
  rewrite E. unfold convert in H. rewrite Zs in H. cbn [andb] in H. destruct (_ || _) eqn:Q; [congruence|].
  destruct (emax c <? _); [destruct (is_infinite c n); [easy|]|]; injection H as <-; cbn [sig] in Zz.
  - assert (2 <= 2 ^ (p c + 1)) by (rewrite Z.add_1_r, Z.pow_succ_r by lia; assert (0 < 2 ^ p c) by (apply Z.pow_pos_nonneg; lia); lia). lia.
  - destruct (Z.eqb_spec (round_div (rho c) n (last_bit c n u - u)) 0); [easy|lia].
Qed.

Lemma zero_block_same d s v b : sum_of d = Some s -> zero_blocks_ok d = true -> result_of (out s) v -> zero_block d b ->
  like_val (block_value d v b) v.
Proof.
  intros S O Rv Zb. unfold zero_blocks_ok in O. rewrite S in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[[P M] F] Nn] K] Zs] Ff] Za] Cr] Zt] Co].
  apply negb_true_iff in F, Nn. apply Z.leb_le in P, M. destruct (carry_bits s) eqn:Ks; [easy|]. destruct (zsign (out s)) eqn:Zg; try easy. destruct (fraction_bits s) as [f|] eqn:Fs; [|easy].
  rewrite (block_value_one d s _ _ S). unfold taken_c. destruct (c_rule d); try easy. rewrite flush_kept. destruct (zero_terms (factors d)); [easy|]. rewrite zero_as_none.
  destruct (zeros_num _ Zb) as [us [-> Uz]]. unfold sum_values. rewrite numbers_zeros. destruct v as [z|t|]; cbn [numbers forallb is_num andb map num_of].
  2, 3: rewrite special_zeros; cbn; try (destruct t; cbn); auto.
  unfold numbers. cbn [forallb is_num andb map num_of].
  destruct (Rv z eq_refl) as [s0 [n0 [u0 Hz]]]. unfold sum_numbers. destruct (is_zero z) eqn:Zz.
  - assert (Az : forallb is_zero (us ++ [z]) = true) by (rewrite forallb_app, Uz; cbn; now rewrite Zz).
    assert (T : total s (us ++ [z]) = 0) by (unfold total; rewrite Ks; unfold counts; rewrite zeros_count by auto; apply zsum_zeros).
    rewrite T. rewrite (convert_zero_result (out s) s0 n0 u0 z) by auto. apply like_refl.
  - destruct (convert_shape _ _ _ _ _ P M Hz) as [[E1 E2] Sh].
    assert (L : largest s (us ++ [z]) = Some (exp z)).
    { rewrite largest_app. assert (Lz : largest s [z] = Some (exp z)) by (unfold largest, term_exponent; cbn [map fold_right]; rewrite Zz, Nn; reflexivity).
      rewrite Lz. apply omax_absorb. eapply ole_trans; [apply (zeros_least s us _ Uz Za)|]. cbn. lia. }
    assert (U : unit_of s (us ++ [z]) = exp z - f) by (unfold unit_of; now rewrite Fs, L).
    assert (T : (IZR (total s (us ++ [z])) * bp (exp z - f) = IZR (signed z) * bp (lsb z))%R).
    { unfold total. rewrite Ks. unfold counts. rewrite U, map_app, zsum_app, (zeros_count _ _ _ Uz), zsum_zeros. cbn [map]. change (zsum [?a]) with (a + 0).
      rewrite Z.add_0_l, Z.add_0_r, cut_ok. change (IZR (signed z) * bp (lsb z))%R with (V z).
      assert (Q : multiple (exp z - f) z) by (apply (result_multiple (out s) s0 n0 u0); auto; lia).
      destruct Q as [k Q]. rewrite Q. apply fix_multiple. }
    rewrite U. erewrite convert_ext; [|exact T|reflexivity].
    destruct (convert_again (out s) s0 (sign_of (rho (out s)) (total s (us ++ [z])) (us ++ [z]) (counts s (us ++ [z]))) n0 u0 z) as [y [Hy Ly]]; auto.
    rewrite Hy. exact Ly.
Qed.

Lemma zero_blocks_same d s zs : sum_of d = Some s -> zero_blocks_ok d = true -> Forall (zero_block d) zs ->
  forall v, result_of (out s) v -> like_val (fold_left (block_value d) zs v) v.
Proof.
  intros S O H. induction H as [|b r Hb H IH]; intros v Rv; [apply like_refl|]. cbn [fold_left].
  eapply like_trans; [apply IH|now apply (zero_block_same d s)]. rewrite (block_value_one d s _ _ S). apply sum_result.
Qed.

(** Products of zero beside those of a call's blocks, and blocks of them after those, change nothing: the same word. *)
Theorem zero_blocks_idle d s bs bs' zs f n : sum_of d = Some s -> zero_products_ok d = true -> zero_blocks_ok d = true -> bs <> [] ->
  Forall2 (fun b b' => with_zeros (sums d) (fst (terms d (ordered d b))) (fst (terms d (ordered d b'))) /\
    snd (terms d (ordered d b')) = snd (terms d (ordered d b))) bs bs' ->
  Forall (zero_block d) zs -> forall v, c_least d v ->
  encode f n (fold_left (block_value d) (bs' ++ zs) v) = encode f n (fold_left (block_value d) bs v).
Proof.
  intros S O1 O2 N H Z v Cv. rewrite fold_left_app, (zero_products_idle d bs bs' O1 H v Cv). apply encode_like.
  apply (zero_blocks_same d s); auto. destruct (exists_last N) as [bs0 [b ->]]. rewrite fold_left_app. cbn [fold_left].
  rewrite (block_value_one d s _ _ S). apply sum_result.
Qed.

(** Where a unit skips a block whose words of A, or of B, are all 0, such blocks after others change neither the value nor a
    NaN's word. *)
Theorem skipped_blocks_idle d bs zs st : skips d = true -> Forall (fun b => skipped d b = true) zs ->
  fold_left (block_step d) (bs ++ zs) st = fold_left (block_step d) bs st.
Proof.
  intros Sk Z. rewrite fold_left_app. generalize (fold_left (block_step d) bs st) as x. induction Z as [|b r Hb Z IH]; intros [v w]; [reflexivity|].
  cbn [fold_left]. rewrite <- IH. f_equal. unfold skipped in Hb. unfold block_step. now rewrite Hb.
Qed.
