(** A sum to which c is added before it is rounded, as a sum of products whose conversion is wide enough to be exact, and then c. *)
From Coq Require Import ZArith List Bool Reals Psatz Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs Zeros Large Operands Stages ProductRounding.
Import ListNotations.
Open Scope Z_scope.

(** * c beside an exact sum *)

Lemma zero_value x : is_zero x = true <-> V x = 0%R.
Proof.
  split; [apply V_zero|]. unfold V, is_zero. intros H. pose proof (bpow_gt_0 radix2 (lsb x)). assert (E : IZR (signed x) = 0%R) by nra. apply eq_IZR in E.
  apply Z.eqb_eq. unfold signed in E. destruct (neg x); lia.
Qed.

Lemma plus_apart d n u s z x : fraction_bits d = None -> V z = (IZR n * bp u)%R -> (n = 0 -> neg z = s) ->
  plus (out d) n u s x = sum_numbers d [z; x].
Proof.
  intros F Vz Nz. unfold plus, sum_numbers. set (w := Z.min u (lsb x)). set (a := n * 2 ^ (u - w)). set (b := signed x * 2 ^ (lsb x - w)).
  assert (Va : (IZR a * bp w = IZR n * bp u)%R) by (unfold a; rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia; do 2 f_equal; lia).
  assert (Vb : (IZR b * bp w = V x)%R) by (unfold b, V; rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia; do 2 f_equal; lia).
  assert (T : total d [z; x] = zsum (counts d [z; x])) by (unfold total; rewrite F; now destruct (carry_bits d)).
  assert (E : (IZR (a + b) * bp w = IZR (total d [z; x]) * bp (unit_of d [z; x]))%R).
  { rewrite T, multiples_total by now apply exact_multiples. unfold exact_sum, Rsum. cbn [map fold_right]. rewrite plus_IZR, Rmult_plus_distr_r, Va, Vb, Vz. ring. }
  apply convert_ext; [exact E|]. unfold sign_of. rewrite (scaled_zero _ _ _ _ E), (scaled_neg _ _ _ _ E), (multiples_zero d [z; x] (exact_multiples d _ F)).
  destruct (negb _); [reflexivity|].
  assert (Za : (0 =? a) = is_zero z).
  { apply eq_true_iff_eq. rewrite zero_value, Vz, <- Va, Z.eqb_eq. pose proof (bpow_gt_0 radix2 w). split; [intros <-; ring|]. intros Q. assert (IZR a = 0%R) by nra. now apply eq_IZR in H0. }
  assert (Zb : (0 =? b) = is_zero x).
  { apply eq_true_iff_eq. rewrite zero_value, <- Vb, Z.eqb_eq. pose proof (bpow_gt_0 radix2 w). split; [intros <-; ring|]. intros Q. assert (IZR b = 0%R) by nra. now apply eq_IZR in H0. }
  cbn [forallb existsb neg]. rewrite Za, Zb. destruct (is_zero z) eqn:Q; [|reflexivity]. rewrite Nz; [reflexivity|].
  apply zero_value in Q. rewrite Vz in Q. pose proof (bpow_gt_0 radix2 u). apply eq_IZR. nra.
Qed.

(** * The exact sum of products *)

(** A conversion to [k] fraction bits with exponents from [lo] to [hi]. *)
Definition wide (m : mode) (lo hi k : Z) : conversion :=
  {| rho := m; p := k; emin := lo; emax := hi; overflow := Infinite; flushes := false; tiny := false; zsign := IeeeSign |}.

(** It has the sum of [n] numbers of these bounds that are cut toward zero. *)
Definition wide_ok (n : nat) (b : bounds) (s : sum) (lo hi k : Z) : bool :=
  let t := Z.max (upto b) (low_upto b) - snd (shape_of b) in
  match alignment s with RZ => true | _ => false end && none (carry_bits s) && (0 <=? k) && (0 <=? fst (shape_of b)) && (grid b <=? t) && (lo - k <=? grid b) && (grid b + k <=? hi) &&
  (Z.of_nat n * magnitude (grid b) b <? 2 ^ k).

Lemma wide_exact n b s lo hi k ts : wide_ok n b s lo hi k = true -> (length ts <= n)%nat -> Forall (fun x => inside b (Num x)) ts ->
  exists z, sum_numbers (with_out s (wide (rho (out s)) lo hi k)) ts = Num z /\ V z = (IZR (total s ts) * bp (unit_of s ts))%R /\
    (total s ts = 0 -> neg z = sign_of (rho (out s)) (total s ts) ts (counts s ts)).
Proof.
  unfold wide_ok. intros O L F. repeat rewrite andb_true_iff in O. destruct O as [[[[[[[A K] Pk] Ps] Gt] Lo] Hi] B]. apply Z.leb_le in Pk, Ps, Gt, Lo, Hi. apply Z.ltb_lt in B.
  assert (A' : alignment s = RZ) by now destruct (alignment s). assert (K' : carry_bits s = None) by now destruct (carry_bits s). clear A K.
  set (g := grid b) in *. set (c := wide (rho (out s)) lo hi k).
  assert (G : exists q, (IZR (total s ts) * bp (unit_of s ts) = IZR q * bp g)%R).
  { destruct (Signs.total_multiple s g ts K') as [q Q]; [|now exists q]. right. left. eapply Forall_impl; [|exact F]. intros x I. destruct (I x eq_refl) as [_ [_ [[q Q] _]]].
    exists (q * 2 ^ Z.max 0 (lsb x - g)). unfold V. rewrite Q, !mult_IZR, <- !bp_Z, !Rmult_assoc, <- !bpow_plus by lia. do 2 f_equal. lia. }
  destruct G as [q G].
  assert (M : (Rabs (IZR (total s ts) * bp (unit_of s ts)) <= IZR (Z.of_nat (length ts) * magnitude g b) * bp g)%R).
  { unfold total. rewrite K'. unfold counts. rewrite A'. generalize (unit_of s ts) as u. intros u. clear -F Ps Gt. induction F as [|x l I F IH].
    - cbn. rewrite !Rmult_0_l, Rabs_R0. lra.
    - unfold zsum in *. cbn [map fold_right]. rewrite plus_IZR, Rmult_plus_distr_r. eapply Rle_trans; [apply Rabs_triang|]. cbn [length].
      replace (Z.of_nat (S (length l)) * magnitude g b) with (magnitude g b + Z.of_nat (length l) * magnitude g b) by lia. rewrite plus_IZR, Rmult_plus_distr_r.
      apply Rplus_le_compat; [|exact IH]. eapply Rle_trans; [apply cut_less|]. destruct (I x eq_refl) as [Fx [_ [_ [U _]]]]. now apply magnitude_of. }
  assert (Mg : 0 <= magnitude g b) by (unfold magnitude; pose proof (Z.pow_nonneg 2 (Z.max (upto b) (low_upto b) - snd (shape_of b) - g)); nia).
  assert (Q : Z.abs q < 2 ^ k).
  { apply Z.le_lt_trans with (Z.of_nat (length ts) * magnitude g b); [|nia]. rewrite G, Rabs_mult, (Rabs_pos_eq (bp g)), <- abs_IZR in M by apply bpow_ge_0.
    apply le_IZR. pose proof (bpow_gt_0 radix2 g). nra. }
  assert (Zq : (total s ts =? 0) = (q =? 0)) by exact (scaled_zero _ _ _ _ G).
  unfold sum_numbers. change (unit_of (with_out s c)) with (unit_of s). change (total (with_out s c)) with (total s). change (counts (with_out s c)) with (counts s). cbn [out with_out].
  change (rho c) with (rho (out s)). set (sg := sign_of _ _ ts _). rewrite (convert_ext c sg sg _ q _ g G eq_refl).
  rewrite short_convert; [|exact Pk|exact Q|right; cbn; lia]. unfold short_result. cbn [flushes wide c andb p emin emax zsign]. rewrite orb_false_r.
  destruct (Z.eqb_spec q 0) as [->|N].
  - eexists. split; [reflexivity|]. rewrite G. split; [unfold V; destruct sg; cbn [signed neg sig Z.opp]; ring|]. reflexivity.
  - assert (Lq : Z.log2 (Z.abs q) < k) by (apply Z.log2_lt_pow2; lia). destruct (Z.ltb_spec hi (Z.log2 (Z.abs q) + g)); [lia|]. eexists. split; [reflexivity|]. split.
    + rewrite G. unfold V, lsb, signed. cbn [neg sig exp frac]. pose proof (Z.log2_nonneg (Z.abs q)). set (ex := Z.max (Z.log2 (Z.abs q) + g) lo - k).
      replace (Z.max (Z.log2 (Z.abs q) + g) lo - (Z.max (Z.log2 (Z.abs q) + g) lo - ex)) with ex by lia.
      assert (S : (if q <? 0 then - (Z.abs q * 2 ^ (g - ex)) else Z.abs q * 2 ^ (g - ex)) = q * 2 ^ (g - ex)) by (destruct (Z.ltb_spec q 0); nia).
      rewrite S, mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by (unfold ex; lia). do 2 f_equal. lia.
    + intros T. rewrite T in Zq. discriminate Zq.
Qed.

(** * Designs *)

Lemma special_twice vs v : numbers vs = None -> special_sum [special_sum vs; v] = special_sum (vs ++ [v]).
Proof.
  intros N. assert (S : forall q, existsb q (vs ++ [v]) = existsb q vs || q v) by (intros q; rewrite existsb_app; cbn [existsb]; now rewrite orb_false_r).
  assert (X : existsb (fun v => match v with NaN => true | _ => false end) vs = false -> existsb (fun v => match v with Inf false => true | _ => false end) vs = false ->
              existsb (fun v => match v with Inf true => true | _ => false end) vs = true).
  { intros A B. unfold numbers in N. destruct (forallb is_num vs) eqn:Fn; [easy|]. clear S N. induction vs as [|y l IH]; [easy|]. cbn [existsb forallb] in *.
    apply orb_false_elim in A. destruct A as [A1 A2]. apply orb_false_elim in B. destruct B as [B1 B2]. destruct y as [|[|]|]; try easy. cbn [is_num andb] in Fn. now apply IH. }
  unfold special_sum. rewrite !S. cbn [existsb]. rewrite !orb_false_r.
  destruct (existsb (fun v => match v with NaN => true | _ => false end) vs), (existsb (fun v => match v with Inf false => true | _ => false end) vs),
    (existsb (fun v => match v with Inf true => true | _ => false end) vs); try (specialize (X eq_refl eq_refl); discriminate X); destruct v as [|[|]|]; reflexivity.
Qed.

Definition apart (s : sum) (lo hi k : Z) : summation :=
  CLast Together (Stage (with_out s (wide (rho (out s)) lo hi k))) (Stage (exact_of s)).

Definition apart_free (d : design) (s : sum) (lo hi k : Z) : bool :=
  one_nan d && parts_ok d && (0 <? Z.of_nat (block d)) && match cutting_of d with Whole => true | _ => false end &&
  match term_bounds d with Some b => wide_ok (block d) b s lo hi k | None => false end.

(** c added before a sum is rounded, or after it was rounded to a format that has it: the same word. *)
Theorem apart_idle d s lo hi k w : sums d = CAfter s false -> apart_free d s lo hi k = true -> pairs w <> [] ->
  compute d w = compute (with_sums d (apart s lo hi k)) w.
Proof.
  intros S O N. unfold apart_free in O. repeat rewrite andb_true_iff in O. destruct O as [[[[ON PO] B] W] O]. destruct (cutting_of d) eqn:Cu; try easy.
  destruct (term_bounds d) as [b|] eqn:T; [|easy].
  symmetry. set (d' := with_sums d _). apply (compute_alike d d' (fun _ => True)); try exact ON; try exact PO; try exact N; [repeat split|lia| |exact I].
  intros l v L Mb _. split; [|exact I]. unfold block_value. change (skipped d' l) with (skipped d l). destruct (skipped d l); [reflexivity|].
  assert (Te : terms d (ordered d l) = (block_products d l, None) /\ terms d' (ordered d l) = (block_products d l, None)) by (unfold terms; cbn [cutting_of d' with_sums]; now rewrite Cu).
  destruct Te as [Te Te']. change (ordered d' l) with (ordered d l). rewrite Te, Te'. change (taken_c d' v) with (taken_c d v). change (sums d') with (apart s lo hi k). rewrite S.
  cbn [fst snd block_sum apart inner_sum add_from add]. set (ps := block_products d l) in *. set (c := taken_c d v).
  pose proof (products_inside d b l T Mb) as Hp. fold ps in Hp. assert (Lp : (length ps <= block d)%nat) by (unfold ps; now rewrite block_products_length).
  unfold sum_values at 2. destruct (numbers ps) as [ts|] eqn:Nu.
  - assert (E : ps = map Num ts /\ map num_of ps = ts).
    { unfold numbers in Nu. destruct (forallb is_num ps) eqn:Fn; [|easy]. injection Nu as <-. split; [|reflexivity]. clear -Fn. induction ps as [|y r IH]; [reflexivity|]. cbn [forallb map] in *.
      apply andb_prop in Fn. destruct Fn as [Fy Fr]. rewrite <- IH by auto. now destruct y. }
    destruct E as [E1 E2]. destruct (wide_exact _ _ _ _ _ _ ts O) as [z [-> [Vz Nz]]].
    + rewrite E1, map_length in Lp. exact Lp.
    + rewrite E1 in Hp. clear -Hp. induction ts; [constructor|]. cbn [map] in Hp. inversion Hp; subst. constructor; auto.
    + unfold on_numbers, sum_values. rewrite E2. cbv zeta. destruct c as [x|q|].
      * assert (Nx : numbers (ps ++ [Num x]) = Some (ts ++ [x])).
        { unfold numbers in *. destruct (forallb is_num ps) eqn:Fn; [|easy]. injection Nu as <-. rewrite forallb_app, Fn, map_app. reflexivity. }
        rewrite Nx. cbn [num_of]. change (numbers [Num z; Num x]) with (Some [z; x]). symmetry.
        assert (H : held s (zsum (counts s ts)) = total s ts) by reflexivity. rewrite H. change (out s) with (out (exact_of s)) at 1. apply plus_apart; auto.
      * assert (Nx : numbers (ps ++ [Inf q]) = None) by (unfold numbers; rewrite forallb_app; cbn [forallb is_num]; now rewrite andb_false_r).
        rewrite Nx, E1, special_zeros. reflexivity.
      * assert (Nx : numbers (ps ++ [NaN]) = None) by (unfold numbers; rewrite forallb_app; cbn [forallb is_num]; now rewrite andb_false_r).
        rewrite Nx, E1, special_zeros. reflexivity.
  - assert (Nx : numbers (ps ++ [c]) = None).
    { unfold numbers in *. destruct (forallb is_num ps) eqn:Fn; [easy|]. now rewrite forallb_app, Fn. }
    unfold on_numbers, sum_values. rewrite Nx. destruct (special_sum ps) as [x| |] eqn:Sp; [exfalso; now apply (special_not_num ps x)| |];
      (change (numbers [_; c]) with (@None (list num)); rewrite <- Sp; now apply special_twice).
Qed.
