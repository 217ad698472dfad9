(** Overflow rules that never apply: sums cut toward zero in which the products are gone before c is too large. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs.
Import ListNotations.
Open Scope R_scope.

(** * Magnitudes of products *)

(** The largest exponent of a format's numbers. *)
Definition highest (f : format) : Z := (2 ^ ebits f - (match special f with IEEE => 2 | _ => 1 end) - bias f)%Z.

Lemma decode_high f w x : format_ok f = true -> (2 <= ebits f)%Z -> decode f w = Num x -> (exp x <= highest f)%Z.
Proof.
  intros O E H. unfold format_ok in O. apply andb_prop in O. destruct O as [O1 O2]. apply Z.leb_le in O1, O2. unfold decode in H.
  set (code := ((w / 2 ^ ignored f) mod 2 ^ (ebits f + fbits f))%Z) in *. pose proof (pow2_pos (fbits f) O1) as P.
  assert (C : (0 <= code < 2 ^ (ebits f + fbits f))%Z) by (apply Z.mod_pos_bound; apply pow2_pos; lia).
  set (e := (code / 2 ^ fbits f)%Z) in *. set (t := (code mod 2 ^ fbits f)%Z) in *.
  assert (Pe : (4 <= 2 ^ ebits f)%Z) by (change 4%Z with (2 ^ 2)%Z; apply Z.pow_le_mono_r; lia).
  assert (Ee : (0 <= e < 2 ^ ebits f)%Z).
  { split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; auto. rewrite <- Z.pow_add_r by lia. rewrite (Z.add_comm (fbits f)). lia. }
  remember (1 - bias f)%Z as m1 eqn:Em. unfold highest. destruct (special f); [destruct (Z.eqb_spec e (2 ^ ebits f - 1)); [destruct (t =? 0)%Z; easy|]| | |];
    try (destruct (code =? _)%Z; [easy|]); try (destruct (_ && (code =? 0)%Z); [easy|]); destruct (_ && has_zero f) eqn:Z; injection H as <-; cbn [exp]; try lia.
Qed.

Definition below (h : Z) (v : val) : Prop := forall x, v = Num x -> Rabs (V x) < bp h.

Lemma num_below x m k : (0 <= sig x)%Z -> IZR (sig x) * bp (- frac x) < bp m -> (exp x <= k)%Z -> Rabs (V x) < bp (k + m).
Proof.
  intros S A E. assert (Ab : Rabs (V x) = IZR (sig x) * bp (lsb x)).
  { unfold V. rewrite Rabs_mult, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. f_equal. rewrite <- abs_IZR. f_equal. unfold signed. destruct (neg x); lia. }
  rewrite Ab. unfold lsb. replace (exp x - frac x)%Z with (- frac x + exp x)%Z by lia. rewrite !bpow_plus, <- Rmult_assoc.
  pose proof (bpow_gt_0 radix2 (exp x)). pose proof (bpow_le radix2 (exp x) k E). pose proof (bpow_gt_0 radix2 m).
  apply Rlt_le_trans with (bp m * bp (exp x)); [apply Rmult_lt_compat_r; auto|]. rewrite (Rmult_comm (bp k)). apply Rmult_le_compat_l; lra.
Qed.

Lemma decode_below f w : format_ok f = true -> (2 <= ebits f)%Z -> below (highest f + 1) (decode f w).
Proof.
  intros O E x H. pose proof (decode_high f w x O E H) as Hx. destruct (decode_num _ _ _ O H) as [A [B _]]. apply num_below; auto; [lia|].
  rewrite B. unfold format_ok in O. apply andb_prop in O. destruct O as [O1 _]. apply Z.leb_le in O1.
  assert (IZR (sig x) < bp (fbits f + 1)) by (rewrite bp_Z by lia; apply IZR_lt; lia).
  replace 1%Z with (fbits f + 1 + - fbits f)%Z at 1 by lia. rewrite bpow_plus. apply Rmult_lt_compat_r; [apply bpow_gt_0|auto].
Qed.

Lemma zero_below_any h x : is_zero x = true -> Rabs (V x) < bp h.
Proof. intros Z. rewrite V_zero, Rabs_R0 by auto. apply bpow_gt_0. Qed.

Lemma flush_below r h v : kept_or_zero r = true -> below h v -> below h (flush r v).
Proof.
  intros K H x E. destruct v as [y| |]; try easy. unfold flush in E. destruct (negb (is_subnormal y)); [now apply H|].
  destruct r; try easy; [now apply H| |]; injection E as <-; now apply zero_below_any.
Qed.

Lemma normalised_V x : (0 <= sig x)%Z -> V (normalised x) = V x.
Proof.
  intros S. unfold normalised. destruct (is_subnormal x) eqn:Q; auto. unfold is_subnormal in Q. apply andb_prop in Q. destruct Q as [_ Q]. apply Z.ltb_lt in Q.
  unfold V, signed, lsb. cbn [neg sig exp frac]. set (k := (frac x - Z.log2 (sig x))%Z). assert (K : (0 <= k)%Z) by (unfold k; lia).
  replace (exp x - frac x)%Z with (k + (exp x - k - frac x))%Z by lia. rewrite (bpow_plus radix2 k), (bp_Z k) by lia.
  destruct (neg x); rewrite ?opp_IZR, mult_IZR; ring.
Qed.

Lemma factor_below q r f w : format_ok f = true -> (2 <= ebits f)%Z -> kept_or_zero r = true -> below (highest f + 1) (factor q r (decode f w)).
Proof.
  intros O E K. unfold factor. pose proof (flush_below r _ _ K (decode_below f w O E)) as F. destruct (normalise_factors q); auto.
  intros x Hx. destruct (flush r (decode f w)) as [y| |] eqn:Y; try easy. injection Hx as <-. rewrite normalised_V; [now apply F|].
  pose proof (flush_whole r _ (decode_whole f w O)) as W. rewrite Y in W. now apply W.
Qed.

Lemma product_below a b v w : below a v -> below b w -> below (a + b) (product v w).
Proof.
  intros Hv Hw x H. apply product_num in H. destruct H as [y [z [-> [-> ->]]]]. rewrite V_times, Rabs_mult, bpow_plus.
  apply Rmult_le_0_lt_compat; try apply Rabs_pos; auto.
Qed.

Definition negate_V x : Rabs (V {| neg := negb (neg x); sig := sig x; exp := exp x; frac := frac x |}) = Rabs (V x).
Proof. unfold V, signed, lsb. cbn. rewrite !Rabs_mult. f_equal. destruct (neg x); cbn; now rewrite ?opp_IZR, ?Rabs_Ropp. Qed.

Lemma negate_below h v : below h v -> below h (negate v).
Proof. intros H x E. destruct v as [y| |]; try easy. injection E as <-. rewrite negate_V. now apply H. Qed.

(** A power of two above every product. *)
Definition product_top (d : design) : Z :=
  (highest (a_format d) + 1 + (highest (b_format d) + 1) + match scales d with Some (f, _) => highest f + 1 + (highest f + 1) | None => 0 end)%Z.

Definition codes_ok (f : format) : bool := format_ok f && (2 <=? ebits f)%Z.
Definition all_codes (d : design) : bool := codes_ok (a_format d) && codes_ok (b_format d) &&
  match scales d with Some (f, _) => codes_ok f | None => true end && match converted d with None => true | _ => false end.

Lemma products_below d t b : term_facts d = Some t -> all_codes d = true -> Forall (made_by d) b -> Forall (below (product_top d)) (block_products d b).
Proof.
  intros T A M. unfold term_facts in T. set (q := factors d) in *. destruct (_ && _) eqn:G in T; [|easy]. repeat rewrite andb_true_iff in G.
  destruct G as [[[[[_ _] Ka] Kb] St] R].
  assert (Zt : zero_terms q = None) by (destruct (zero_terms q); auto; destruct (converted d); easy).
  assert (Pr : product_rounding q = None) by (destruct (product_rounding q); auto; destruct (converted d), (zero_terms q); easy).
  unfold all_codes, codes_ok in A. repeat rewrite andb_true_iff in A. destruct A as [[[[Oa Ea] [Ob Eb]] Es] Cv]. destruct (converted d) eqn:Cv'; [easy|]. clear Cv. rename Cv' into Cv. apply Z.leb_le in Ea, Eb.
  apply Forall_forall. intros v Hv. apply in_map_iff in Hv. destruct Hv as [x [<- Hx]].
  assert (Mx : made_by d x). { rewrite Forall_forall in M. apply M. unfold ordered in Hx. destruct (odd_first d); auto. now apply swapped_incl. }
  set (h := (highest (a_format d) + 1 + (highest (b_format d) + 1))%Z).
  assert (P : below h (product (a_of d x) (b_of d x))).
  { apply product_below; unfold a_of, b_of, operand; fold q; rewrite Cv, St; now apply factor_below. }
  unfold scaled_product. fold q. rewrite Zt, zero_as_none, Pr.
  assert (N : below h (if subtracted q (index x) then negate (product (a_of d x) (b_of d x)) else product (a_of d x) (b_of d x))) by (destruct (subtracted _ _); auto using negate_below).
  assert (S : below (product_top d) (fold_left product (scaled_by x) (if subtracted q (index x) then negate (product (a_of d x) (b_of d x)) else product (a_of d x) (b_of d x)))).
  { unfold product_top. fold h. unfold made_by in Mx. destruct (scales d) as [[f n]|].
    - destruct Mx as [a [c ->]]. cbn [fold_left]. apply andb_prop in Es. destruct Es as [Of Ef]. apply Z.leb_le in Ef.
      rewrite Z.add_assoc. apply product_below; [apply product_below; auto|]; now apply decode_below.
    - rewrite Mx. cbn [fold_left]. now rewrite Z.add_0_r. }
  intros y E. destruct (fold_left product (scaled_by x) _) as [z| |]; try easy.
  destruct (match product_limit q with Some l => negb (is_zero z) && (l <=? own_exponent z)%Z | None => false end); [easy|]. injection E as <-. now apply S.
Qed.

(** * Sums that are not too large *)

Definition max_of (c : conversion) : R := IZR (2 ^ (p c + 1) - 1) * bp (emax c - p c).

Lemma max_between c : (0 <= p c)%Z -> bp (emax c) <= max_of c < bp (emax c + 1).
Proof.
  intros P. unfold max_of. replace (bp (emax c)) with (bp (p c) * bp (emax c - p c)) by (rewrite <- bpow_plus; f_equal; lia).
  replace (bp (emax c + 1)) with (bp (p c + 1) * bp (emax c - p c)) by (rewrite <- bpow_plus; f_equal; lia).
  pose proof (bpow_gt_0 radix2 (emax c - p c)) as B. pose proof (pow2_pos (p c) P) as P2. assert (D : (2 ^ (p c + 1) = 2 * 2 ^ p c)%Z) by (rewrite Z.add_1_r, Z.pow_succ_r; lia).
  rewrite (bp_Z (p c)), (bp_Z (p c + 1)) by lia. split; [apply Rmult_le_compat_r; [lra|]; apply IZR_le; lia|]. apply Rmult_lt_compat_r; auto. apply IZR_lt. lia.
Qed.

(** What is rounded stays within the largest number where it was. *)
Lemma not_large c n u : (0 <= p c)%Z -> (emin c <= emax c)%Z -> Rabs (IZR n * bp u) <= max_of c ->
  let r := round_div (rho c) n (last_bit c n u - u) in (r <> 0)%Z -> (Z.log2 (Z.abs r) + last_bit c n u <= emax c)%Z.
Proof.
  intros P M A r R. destruct (round_div_log2 c n u R) as [B1 _]. fold r in B1.
  assert (F : Rabs (flt_rnd c (IZR n * bp u)) <= max_of c).
  { assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). unfold flt_rnd. apply abs_round_le_generic; auto with typeclass_instances.
    apply generic_format_FLT. exists (Float radix2 (2 ^ (p c + 1) - 1) (emax c - p c)); [reflexivity| |cbn; lia].
    cbn [Fnum]. pose proof (pow2_pos (p c + 1) ltac:(lia)). rewrite Z.abs_eq by lia. change (Zpower radix2 (p c + 1)) with (2 ^ (p c + 1))%Z. lia. }
  assert (Q : bp (Z.log2 (Z.abs r) + last_bit c n u) < bp (emax c + 1)) by (pose proof (max_between c P); lra).
  apply lt_bpow in Q. lia.
Qed.

Lemma overflow_unseen c o s n u : (let r := round_div (rho c) n (last_bit c n u - u) in (r <> 0)%Z -> (Z.log2 (Z.abs r) + last_bit c n u <= emax c)%Z) ->
  convert (with_overflow c o) s n u = convert c s n u.
Proof.
  intros L. unfold convert. change (last_bit (with_overflow c o) n u) with (last_bit c n u). cbn [rho flushes with_overflow zsign emin emax p].
  change (is_tiny (with_overflow c o) n u) with (is_tiny c n u). change (tiny (with_overflow c o)) with (tiny c).
  destruct (Z.eqb_spec (round_div (rho c) n (last_bit c n u - u)) 0) as [R|R]; [reflexivity|]. cbn [orb].
  destruct (flushes c && _); [reflexivity|]. specialize (L R).
  destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs (round_div (rho c) n (last_bit c n u - u))) + last_bit c n u)); [lia|reflexivity].
Qed.

Lemma any_overflow c o s n u : (0 <= p c)%Z -> (emin c <= emax c)%Z -> Rabs (IZR n * bp u) <= max_of c -> convert (with_overflow c o) s n u = convert c s n u.
Proof. intros P M A. apply overflow_unseen. exact (not_large c n u P M A). Qed.

(** Cut toward zero, or to odd, a number stays below a power of two. *)
Lemma not_large_down c n u : (rho c = RZ \/ rho c = RO) -> (0 <= p c)%Z -> (emin c <= emax c)%Z -> Rabs (IZR n * bp u) < bp (emax c + 1) ->
  let r := round_div (rho c) n (last_bit c n u - u) in (r <> 0)%Z -> (Z.log2 (Z.abs r) + last_bit c n u <= emax c)%Z.
Proof.
  intros Rm P M A r R. assert (N : (n <> 0)%Z) by (intros ->; apply R; unfold r; apply round_div_0).
  rewrite Rabs_mult, (Rabs_pos_eq (bp u)), <- abs_IZR in A by apply bpow_ge_0.
  assert (Lo : (Z.log2 (Z.abs n) + u < emax c + 1)%Z).
  { apply (lt_bpow radix2). rewrite bpow_plus. eapply Rle_lt_trans; [|exact A]. apply Rmult_le_compat_r; [apply bpow_ge_0|].
    rewrite bp_Z by apply Z.log2_nonneg. apply IZR_le. apply Z.log2_spec. lia. }
  set (ex := last_bit c n u) in *. assert (Ex : (ex <= emax c - p c)%Z) by (unfold ex, last_bit; destruct (Z.eqb_spec n 0); lia).
  assert (A' : IZR (Z.abs n) < bp (emax c + 1 - u)).
  { replace (bp (emax c + 1 - u)) with (bp (emax c + 1) * bp (- u)) by (rewrite <- bpow_plus; f_equal; lia).
    apply Rmult_lt_reg_r with (bp u); [apply bpow_gt_0|]. rewrite Rmult_assoc, <- bpow_plus. replace (- u + u)%Z with 0%Z by lia. cbn [bpow]. lra. }
  rewrite bp_Z in A' by (pose proof (Z.log2_nonneg (Z.abs n)); lia). apply lt_IZR in A'.
  set (k := (emax c + 1 - ex)%Z). assert (K : (1 <= k)%Z) by (unfold k; lia).
  assert (Q : (Z.abs r < 2 ^ k)%Z).
  { assert (Ev : (2 ^ k = 2 * 2 ^ (k - 1))%Z) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
    unfold r. rewrite round_div_unfold. destruct (Z.leb_spec (ex - u) 0).
    - rewrite Z.abs_mul, (Z.abs_eq (2 ^ _)) by (apply Z.pow_nonneg; lia). replace (emax c + 1 - u)%Z with (k - (u - ex))%Z in A' by (unfold k; lia).
      destruct (Z_lt_le_dec k (u - ex)) as [B|B]; [rewrite Z.pow_neg_r in A' by lia; lia|].
      replace (2 ^ k)%Z with (2 ^ (k - (u - ex)) * 2 ^ (- (ex - u)))%Z by (rewrite <- Z.pow_add_r by lia; f_equal; lia).
      apply Z.mul_lt_mono_pos_r; auto. apply Z.pow_pos_nonneg; lia.
    - set (j := (ex - u)%Z) in *. assert (Pj : (0 < 2 ^ j)%Z) by (apply Z.pow_pos_nonneg; lia).
      replace (emax c + 1 - u)%Z with (k + j)%Z in A' by (unfold k, j; lia). rewrite Z.pow_add_r in A' by lia.
      pose proof (Z.div_mod n (2 ^ j) ltac:(lia)) as D. pose proof (Z.mod_pos_bound n (2 ^ j) Pj) as B.
      set (q := (n / 2 ^ j)%Z) in *. set (t := (n mod 2 ^ j)%Z) in *. set (h := (2 ^ (k - 1))%Z) in *. set (w := (2 ^ j)%Z) in *. rewrite Ev in *.
      assert (Q1 : (q < 2 * h)%Z) by nia. assert (Q2 : (- (2 * h) <= q)%Z) by nia. assert (Q3 : (t = 0 -> - (2 * h) < q)%Z) by (intros ->; nia).
      destruct (Z.eqb_spec t 0) as [T|T]; [specialize (Q3 T); lia|]. destruct Rm as [-> | ->].
      + destruct (Z.ltb_spec n 0) as [S|S]; [|assert (0 <= q)%Z by nia; lia]. assert (q < 0)%Z by nia. lia.
      + destruct (Z.even q) eqn:Eq; [apply Z.even_spec in Eq; destruct Eq as [i Eq]; lia|].
        assert (Od : Z.odd q = true) by (rewrite <- Z.negb_even, Eq; reflexivity). apply Z.odd_spec in Od. destruct Od as [i Od]. lia. }
  assert ((Z.log2 (Z.abs r) < k)%Z) by (apply Z.log2_lt_pow2; lia). unfold k in *. lia.
Qed.

Lemma convert_within c s n u z : (0 <= p c)%Z -> (emin c <= emax c)%Z -> convert c s n u = Num z -> Rabs (V z) <= max_of c.
Proof.
  intros P M H. destruct (convert_shape _ _ _ _ _ P M H) as [[E1 E2] Sh]. pose proof (max_between c P) as [L _].
  assert (Ab : Rabs (V z) = IZR (Z.abs (sig z)) * bp (lsb z)).
  { unfold V. rewrite Rabs_mult, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. f_equal. rewrite <- abs_IZR. f_equal. unfold signed. destruct (neg z); lia. }
  destruct Sh as [[F [S _]]|[F S]].
  - rewrite Ab. unfold max_of, lsb. rewrite F, Z.abs_eq by lia. apply Rmult_le_compat; [apply IZR_le; lia|apply bpow_ge_0|apply IZR_le; lia|apply bpow_le; lia].
  - rewrite Ab, S. rewrite Z.abs_eq by (apply Z.pow_nonneg; lia). rewrite <- bp_Z by lia. unfold lsb. rewrite F, <- bpow_plus.
    replace (p c + 1 + (exp z - (p c + 1)))%Z with (exp z) by lia. apply Rle_trans with (bp (emax c)); [apply bpow_le; lia|exact L].
Qed.

Lemma cut_less u x : Rabs (IZR (cut RZ u x) * bp u) <= Rabs (V x).
Proof.
  rewrite cut_ok. unfold fix_rnd, round, F2R, scaled_mantissa. cbn [Fnum Fexp]. unfold cexp, FIX_exp. rewrite Rabs_mult, (Rabs_pos_eq (bp u)) by apply bpow_ge_0.
  change (rnd RZ) with Ztrunc. rewrite <- abs_IZR, <- Ztrunc_abs. rewrite Rabs_mult, (Rabs_pos_eq (bp (- u))) by apply bpow_ge_0.
  set (y := Rabs (V x) * bp (- u)). assert (Y : 0 <= y) by (apply Rmult_le_pos; [apply Rabs_pos|apply bpow_ge_0]).
  replace (Rabs (V x)) with (y * bp u). 2: { unfold y. rewrite Rmult_assoc, <- bpow_plus. replace (- u + u)%Z with 0%Z by lia. cbn. ring. }
  apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite Ztrunc_floor by auto. apply Zfloor_lb.
Qed.

Lemma cut_gone u h x : (h <= u)%Z -> Rabs (V x) < bp h -> cut RZ u x = 0%Z.
Proof.
  intros L A. assert (Q : Rabs (IZR (cut RZ u x) * bp u) < bp u) by (eapply Rle_lt_trans; [apply cut_less|]; eapply Rlt_le_trans; [exact A|]; now apply bpow_le).
  rewrite Rabs_mult, (Rabs_pos_eq (bp u)) in Q by apply bpow_ge_0. pose proof (bpow_gt_0 radix2 u) as B. assert (Rabs (IZR (cut RZ u x)) < 1) by nra.
  rewrite <- abs_IZR in H. apply lt_IZR in H. lia.
Qed.

(** Overflow never comes: where c is so large that products are cut off, it is within the largest number by itself. *)
Definition never_large (d : design) (s : sum) (f : Z) : bool :=
  all_codes d && match alignment s with RZ => true | _ => false end && negb (normalise s) && (0 <=? f)%Z &&
  (2 ^ f + Z.of_nat (block d) <=? 2 ^ (emax (out s) - product_top d))%Z && (0 <=? emax (out s) - product_top d)%Z &&
  codes_ok (start_format d) && (fbits (start_format d) <=? p (out s))%Z && (highest (start_format d) <=? emax (out s))%Z.

Definition overflow_never (d : design) : bool :=
  match sum_of d, term_facts d with
  | Some s, Some t => sound d s && match carry_bits s with None => true | _ => false end && match fraction_bits s with Some f => never_large d s f | None => false end
  | _, _ => false
  end.

Lemma total_within s f h N us x M : alignment s = RZ -> normalise s = false -> carry_bits s = None -> fraction_bits s = Some f -> (0 <= f)%Z ->
  Forall (fun y => Rabs (V y) < bp h) us -> (Z.of_nat (length us) <= N)%Z -> Rabs (V x) <= M -> Rabs (V x) < bp (exp x + 1) -> IZR (2 ^ f + N) * bp h <= M ->
  Rabs (IZR (total s (us ++ [x])) * bp (unit_of s (us ++ [x]))) <= M.
Proof.
  intros A Nn K F F0 Hu L Mx Ex C. unfold total. rewrite K. unfold counts. rewrite A. set (u := unit_of s (us ++ [x])).
  rewrite map_app, zsum_app. cbn [map]. change (zsum [?a]) with (a + 0)%Z. rewrite Z.add_0_r, plus_IZR, Rmult_plus_distr_r.
  destruct (Z_le_gt_dec h u) as [U|U].
  - assert (Z0 : zsum (map (cut RZ u) us) = 0%Z).
    { clearbody u. clear -Hu U. induction Hu as [|y r Hy Hu IH]; [reflexivity|]. cbn [map]. change (zsum (?a :: ?l)) with (a + zsum l)%Z. rewrite IH, (cut_gone u h) by auto. reflexivity. }
    rewrite Z0. rewrite Rmult_0_l, Rplus_0_l. eapply Rle_trans; [apply cut_less|exact Mx].
  - assert (Su : Rabs (IZR (zsum (map (cut RZ u) us)) * bp u) <= IZR (Z.of_nat (length us)) * bp h).
    { clear -Hu. clearbody u. induction Hu as [|y r Hy Hu IH]; [cbn; rewrite Rmult_0_l, Rabs_R0; lra|]. cbn [map length]. change (zsum (?a :: ?l)) with (a + zsum l)%Z.
      rewrite plus_IZR, Rmult_plus_distr_r, Nat2Z.inj_succ, succ_IZR. pose proof (cut_less u y).
      pose proof (Rabs_triang (IZR (cut RZ u y) * bp u) (IZR (zsum (map (cut RZ u) r)) * bp u)). lra. }
    pose proof (bpow_gt_0 radix2 h) as Bh.
    assert (Sx : Rabs (IZR (cut RZ u x) * bp u) <= IZR (2 ^ f) * bp h).
    { destruct (is_zero x) eqn:Zx. { rewrite cut_zero by auto. rewrite Rmult_0_l, Rabs_R0. apply Rmult_le_pos; [apply IZR_le; apply Z.pow_nonneg; lia|lra]. }
      eapply Rle_trans; [apply cut_less|]. rewrite <- bp_Z, <- bpow_plus by lia. apply Rlt_le. eapply Rlt_le_trans; [exact Ex|]. apply bpow_le.
      pose proof (largest_in s (us ++ [x]) x ltac:(apply in_or_app; right; now left)) as I. unfold term_exponent in I. rewrite Zx, Nn in I.
      unfold u, unit_of in U. rewrite F in U. destruct (largest s (us ++ [x])); cbn in I; [lia|easy]. }
    assert (Le : IZR (Z.of_nat (length us)) * bp h <= IZR N * bp h) by (apply Rmult_le_compat_r; [lra|now apply IZR_le]).
    rewrite plus_IZR, Rmult_plus_distr_r in C. pose proof (Rabs_triang (IZR (zsum (map (cut RZ u) us)) * bp u) (IZR (cut RZ u x) * bp u)). lra.
Qed.

Theorem overflow_never_idle d s o w : sum_of d = Some s -> overflow_never d = true -> pairs w <> [] ->
  compute d w = compute (with_sum d (with_out s (with_overflow (out s) o))) w.
Proof.
  intros S O N. unfold overflow_never in O. rewrite S in O. destruct (term_facts d) as [t|] eqn:T; [|easy]. repeat rewrite andb_true_iff in O. destruct O as [[Sd K] O].
  destruct (carry_bits s) eqn:Ks; [easy|]. destruct (fraction_bits s) as [f|] eqn:F; [|easy]. unfold never_large in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[AC Al] Nn] F0] Bd] Ep] Cs] Fb] Hs]. destruct (alignment s) eqn:A; try easy. apply negb_true_iff in Nn. apply Z.leb_le in F0, Bd, Ep, Fb, Hs.
  unfold sound in Sd. repeat rewrite andb_true_iff in Sd. destruct Sd as [[[[[[ON PO] B] Oc] Kc] P] EM]. apply Z.leb_le in P, EM.
  set (s' := with_out s (with_overflow (out s) o)). set (d' := with_sum d s').
  assert (S' : sum_of d' = Some s').
  { clear - S. unfold sum_of in *. cbn. destruct (sums d) as [[?|]| | | | | | | |]; try easy. destruct (cutting_of d); try easy. now destruct (skips d). }
  set (C := fun v => good_c s (start_format d) v /\ forall x, v = Num x -> Rabs (V x) <= max_of (out s)).
  pose proof (max_between (out s) P) as [Mb _].
  symmetry. apply (compute_alike d d' C); auto; [repeat split|lia| |].
  - intros b v Lb Hb [Gv Mv]. rewrite (block_value_one d s _ _ S), (block_value_one d' s' _ _ S').
    change (block_products d' b) with (block_products d b). change (taken_c d' v) with (taken_c d v).
    pose proof (products_below d t b T AC Hb) as Hp. pose proof (term_facts_zero d t T) as Zt. pose proof (block_products_length d b) as Lp.
    assert (Gc : good_c s (start_format d) (taken_c d v)) by (rewrite taken_kept by auto; now apply flush_good).
    assert (R : C (sum_values s (block_products d b ++ [taken_c d v]))).
    { split; [apply sum_good; lia|]. intros x Hx. unfold sum_values in Hx. destruct (numbers _); [|exfalso; now apply (special_not_num _ x Hx)].
      eapply convert_within; eauto. }
    split; [|exact R]. unfold sum_values. destruct (numbers (block_products d b ++ [taken_c d v])) as [ts|] eqn:Nu; [|reflexivity].
    destruct (numbers_app _ _ _ Nu) as [us [x [-> [Ec Eu]]]]. rewrite Eu in Hp, Lp. rewrite map_length in Lp. rewrite Ec in Gc. destruct (Gc x eq_refl) as [[S0 Fx] _].
    unfold sum_numbers. change (total s' (us ++ [x])) with (total s (us ++ [x])). change (unit_of s' (us ++ [x])) with (unit_of s (us ++ [x])).
    change (counts s' (us ++ [x])) with (counts s (us ++ [x])). cbn [out s' with_out]. change (rho (with_overflow (out s) o)) with (rho (out s)).
    apply any_overflow; auto. apply (total_within s f (product_top d) (Z.of_nat (block d))); auto.
    + apply Forall_forall. intros y Hy. rewrite Forall_forall in Hp. apply (Hp (Num y)); auto. now apply in_map.
    + lia.
    + rewrite taken_kept in Ec by auto. destruct v as [y| |]; try easy. unfold flush in Ec. destruct (negb (is_subnormal y)); [injection Ec as <-; now apply Mv|].
      assert (Z0 : forall e q n, Rabs (V {| neg := n; sig := 0; exp := e; frac := q |}) <= max_of (out s)).
      { intros e q n. apply Rlt_le. eapply Rlt_le_trans; [apply (zero_below_any (emax (out s))); reflexivity|exact Mb]. }
      destruct (c_rule d); try easy; injection Ec as <-; auto.
    + apply num_below; auto; [|lia]. cbn [fst snd number_shape] in Fx. eapply Rle_lt_trans; [exact Fx|].
      set (w0 := Z.max _ _). assert (W0 : (0 <= w0)%Z) by (unfold w0; lia). unfold number_shape. cbn [fst snd].
      apply Rlt_le_trans with (bp (w0 + 1) * bp (- w0)); [|rewrite <- bpow_plus; apply bpow_le; lia].
      apply Rmult_lt_compat_r; [apply bpow_gt_0|]. rewrite bp_Z by lia. apply IZR_lt. lia.
    + eapply Rle_trans; [|exact Mb]. replace (emax (out s)) with (emax (out s) - product_top d + product_top d)%Z by lia. rewrite bpow_plus, (bp_Z (emax (out s) - product_top d)) by lia.
      apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. lia.
  - split; [apply (start_good d s w); auto; lia|]. intros x Hx.
    assert (Q : forall f0 word, codes_ok f0 = true -> (fbits f0 <= p (out s))%Z -> (highest f0 <= emax (out s))%Z -> decode f0 word = Num x -> Rabs (V x) <= max_of (out s)).
    { intros f0 word Ck L1 L2 D. unfold codes_ok in Ck. apply andb_prop in Ck. destruct Ck as [Of Ef]. apply Z.leb_le in Ef.
      pose proof (decode_high f0 word x Of Ef D) as Hh. destruct (decode_num _ _ _ Of D) as [Sg [Fr _]].
      assert (Ab : Rabs (V x) = IZR (sig x) * bp (lsb x)).
      { unfold V. rewrite Rabs_mult, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. f_equal. rewrite <- abs_IZR. f_equal. unfold signed. destruct (neg x); lia. }
      rewrite Ab. unfold lsb. rewrite Fr. unfold format_ok in Of. apply andb_prop in Of. destruct Of as [Of _]. apply Z.leb_le in Of.
      set (k := (p (out s) - fbits f0)%Z). assert (K0 : (0 <= k)%Z) by (unfold k; lia).
      apply Rle_trans with (IZR ((2 ^ (fbits f0 + 1) - 1) * 2 ^ k) * bp (emax (out s) - p (out s))).
      - rewrite mult_IZR, <- (bp_Z k), Rmult_assoc, <- bpow_plus by lia. apply Rmult_le_compat; [apply IZR_le; lia|apply bpow_ge_0|apply IZR_le; lia|]. apply bpow_le. unfold k. lia.
      - unfold max_of. apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. rewrite Z.mul_sub_distr_r, <- Z.pow_add_r by lia.
        replace (fbits f0 + 1 + k)%Z with (p (out s) + 1)%Z by (unfold k; lia). pose proof (pow2_pos k K0). lia. }
    apply (Q _ _ Cs Fb Hs Hx).
Qed.
