(** Sums of which nothing is cut off for any operands, results that are the exact sum rounded once, and where sums of integers end
    to be exact. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Mirror Losses Accumulated Trees Summations Exact FromZero Calls Regions Rises.
Import ListNotations.
Open Scope R_scope.

(** * The exponents of a format *)

(** The exponent of a format's largest numbers, or more. *)
Definition top_codes (f : format) : Z := match special f with IEEE => 2 | _ => 1 end.
Definition greatest (f : format) : Z := Z.max (1 - bias f) (2 ^ ebits f - top_codes f - bias f).

Lemma decode_greatest f w x : format_ok f = true -> decode f w = Num x -> (least f <= exp x <= greatest f)%Z.
Proof.
  intros O D. destruct (decode_num _ _ _ O D) as [_ [_ [L _]]]. split; auto. unfold format_ok in O. apply andb_prop in O. destruct O as [O1 O2].
  apply Z.leb_le in O1, O2. unfold decode in D. set (code := ((w / 2 ^ ignored f) mod 2 ^ (ebits f + fbits f))%Z) in *.
  assert (C : (0 <= code < 2 ^ ebits f * 2 ^ fbits f)%Z).
  { unfold code. rewrite <- Z.pow_add_r by lia. apply Z.mod_pos_bound. apply pow2_pos. lia. }
  pose proof (pow2_pos (fbits f) O1) as P. assert (E : (0 <= code / 2 ^ fbits f < 2 ^ ebits f)%Z).
  { split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; lia. }
  set (e := (code / 2 ^ fbits f)%Z) in *. clearbody e. unfold greatest.
  assert (Fin : forall s t, (e <= 2 ^ ebits f - top_codes f)%Z ->
    (if (e =? 0)%Z && has_zero f then Num {| neg := s; sig := if subnormals f then t else 0%Z; exp := (1 - bias f)%Z; frac := fbits f |}
     else Num {| neg := s; sig := (t + 2 ^ fbits f)%Z; exp := (e - bias f)%Z; frac := fbits f |}) = Num x ->
    (exp x <= Z.max (1 - bias f) (2 ^ ebits f - top_codes f - bias f))%Z).
  { intros s t H Q. apply (f_equal (fun v => exp (num_of v))) in Q. destruct ((e =? 0)%Z && has_zero f); cbn [num_of exp] in Q; lia. }
  destruct (special f) eqn:Sp.
  - destruct (Z.eqb_spec e (2 ^ ebits f - 1)); [destruct (_ =? 0)%Z; easy|]. eapply Fin; [|exact D]. unfold top_codes. rewrite Sp. lia.
  - destruct (code =? _)%Z; [easy|]. eapply Fin; [|exact D]. unfold top_codes. rewrite Sp. lia.
  - destruct (_ && (code =? 0)%Z); [easy|]. eapply Fin; [|exact D]. unfold top_codes. rewrite Sp. lia.
  - eapply Fin; [|exact D]. unfold top_codes. rewrite Sp. lia.
Qed.

Lemma finite_close fa fb p : format_ok fa = true -> format_ok fb = true -> finite_pair fa fb p = true ->
  exists x y, decode fa (fst p) = Num x /\ decode fb (snd p) = Num y /\ (least fa + least fb <= exp (times x y) <= greatest fa + greatest fb)%Z.
Proof.
  intros Oa Ob H. unfold finite_pair in H. apply andb_prop in H. destruct H as [H1 H2].
  destruct (decode fa (fst p)) as [x| |] eqn:Da; try easy. destruct (decode fb (snd p)) as [y| |] eqn:Db; try easy. exists x, y.
  pose proof (decode_greatest fa _ _ Oa Da). pose proof (decode_greatest fb _ _ Ob Db). repeat split; auto; cbn; lia.
Qed.

(** * The sum is exact *)

(** The exponents of all terms other than zero. *)
Definition lowest (d : design) (zero : bool) : Z :=
  let ab := (least (a_format d) + least (b_format d))%Z in if zero then ab else Z.min ab (least (c_format d)).
Definition highest (d : design) (zero : bool) : Z :=
  let ab := (greatest (a_format d) + greatest (b_format d))%Z in if zero then ab else Z.max ab (greatest (c_format d)).
Definition term_bits (d : design) (zero : bool) : Z :=
  Z.max (fbits (a_format d) + fbits (b_format d)) (if zero then 0 else fbits (c_format d)).

(** Calls of [n] products cut nothing; with [zero] of c = +0.  [f] fraction bits are enough, and partial sums have [most] units. *)
Definition exact_ok (d : design) (n : nat) (zero : bool) (f most : Z) : bool :=
  let w := term_bits d zero in
  let s := (highest d zero - lowest d zero)%Z in
  let g := (lowest d zero - w)%Z in
  (0 <=? s)%Z && (s + w <=? f)%Z && format_ok (c_format d) && (negb zero || plus_zero_of (c_format d)) &&
  side g f g most (product_units (a_format d) (b_format d) w s) (if zero then 0 else c_units (c_format d) w s) n n zero d.

Lemma sum_exact d l n zero f most ps c x :
  exact_ok d n zero f most = true -> final d = Some l -> length ps = n ->
  forallb (finite_pair (a_format d) (b_format d)) ps = true -> decode (c_format d) c = Num x -> (zero = true -> c = 0%Z) ->
  exists s m u, value d (call ps c) = convert (out l) s m u /\
    IZR m * bp u = V x + Rsum (map (pair_value (a_format d) (b_format d)) ps).
Proof.
  intros O Fl Ln Fp Dc Zc. unfold exact_ok in O. cbv zeta in O. set (w := term_bits d zero) in *. set (s := (highest d zero - lowest d zero)%Z) in *.
  set (g := (lowest d zero - w)%Z) in *. repeat rewrite andb_true_iff in O. destruct O as [[[[S0 Fw] Oc] Pz] Sd]. apply Z.leb_le in S0, Fw.
  assert (Of : format_ok (a_format d) = true /\ format_ok (b_format d) = true).
  { unfold side in Sd. repeat rewrite andb_true_iff in Sd. destruct Sd as [[[[[[P _] _] _] _] _] _]. unfold plain_factors in P. repeat rewrite andb_true_iff in P. tauto. }
  destruct Of as [Oa Ob].
  assert (PC : Forall (pair_close (a_format d) (b_format d) g w s) ps).
  { apply Forall_forall. intros p Hp. rewrite forallb_forall in Fp. destruct (finite_close _ _ p Oa Ob (Fp p Hp)) as [y [z [Dy [Dz E]]]].
    exists y, z. split; auto. split; auto. intros _. unfold g, s, lowest, highest. destruct zero; lia. }
  destruct (decode_num _ _ _ Oc Dc) as [Sx [Fx _]]. pose proof (decode_greatest _ _ _ Oc Dc) as Ex.
  set (bc := if zero then 0%Z else c_units (c_format d) w s) in *.
  set (t := {| bound := bc; real := V x; here := Num x |}).
  assert (Nt : near g f t).
  { unfold t, bc. destruct zero eqn:Zr.
    - specialize (Zc eq_refl). cbn in Pz. unfold plus_zero_of in Pz. rewrite <- Zc, Dc in Pz. apply andb_prop in Pz. destruct Pz as [Pz _].
      exists x. cbn. rewrite (V_zero x Pz), Rabs_R0. split; auto. split; auto. split; [split|lra].
      + rewrite V_zero by auto. exists 0%Z. ring.
      + congruence.
    - unfold c_units. rewrite <- Fx. apply num_near; auto using form_refl.
      + rewrite Fx. unfold w, term_bits. lia.
      + intros _. unfold g, s, lowest, highest. lia.
      + rewrite Fx. lia. }
  assert (Ns : (0 < n)%nat /\ (composed d = None -> zsign (out l) = Positive \/ no_minus_zero (here t))).
  { unfold side in Sd. rewrite Fl in Sd. destruct (last_sum (sums d)) as [l'|] eqn:L; [|now rewrite andb_false_r in Sd].
    repeat rewrite andb_true_iff in Sd. destruct Sd as [[[_ K0] M0] [_ Co]]. apply Nat.ltb_lt in K0. split; auto.
    intros Cn. rewrite Cn in Co. unfold final in Fl. rewrite L, Cn in Fl. injection Fl as <-. apply orb_prop in Co. destruct Co as [Co|Co].
    - right. rewrite Co in *. specialize (Zc eq_refl). cbn in Pz. unfold plus_zero_of in Pz. rewrite <- Zc, Dc in Pz. apply andb_prop in Pz. destruct Pz as [_ Pz].
      apply negb_true_iff in Pz. intros y Hy _. cbn in Hy. congruence.
    - left. now destruct (zsign (out l')). }
  destruct Ns as [N0 Pc].
  destruct (call_ends g f g g most (product_units (a_format d) (b_format d) w s) w s d n n zero bc (Z.le_refl g) (Z.le_refl g) S0
    ltac:(unfold w, term_bits; lia) Fw eq_refl Sd l ps c t Fl Ln PC Nt (eq_sym Dc)) as [s' [m [u [E1 [E2 _]]]]]; auto.
  - cbn [bound t]. rewrite Nat.sub_diag. lia.
  - exists s', m, u. auto.
Qed.

(** For all finite operands the result is the exact sum of the products and c, rounded once by the design's last conversion. *)
Theorem sum_is_exact d n zero f most ps c x :
  exact_ok d n zero f most = true -> length ps = n ->
  forallb (finite_pair (a_format d) (b_format d)) ps = true -> decode (c_format d) c = Num x -> (zero = true -> c = 0%Z) ->
  exists l s m u, final d = Some l /\ value d (call ps c) = convert (out l) s m u /\
    IZR m * bp u = V x + Rsum (map (pair_value (a_format d) (b_format d)) ps).
Proof.
  intros O Ln Fp Dc Zc. assert (F : exists l, final d = Some l).
  { unfold exact_ok, side in O. destruct (final d) as [l|]; [eauto|]. exfalso. repeat rewrite andb_true_iff in O. destruct O as [_ [_ O]].
    now destruct (last_sum (sums d)). }
  destruct F as [l Fl]. destruct (sum_exact d l n zero f most ps c x O Fl Ln Fp Dc Zc) as [s [m [u E]]]. exists l, s, m, u. auto.
Qed.

(** Conversions to all numbers of a format, without flushing and with overflow as IEEE 754 has it, or without any. *)
Definition to_format (fd : format) (c : conversion) (no_overflow : bool) : bool :=
  holds fd c && plain c && (p c =? fbits fd)%Z && (no_overflow || match rho c with RNE | RNA => true | _ => false end).

Definition correct_ok (d : design) (n : nat) (zero : bool) (f most : Z) : bool :=
  let w := term_bits d zero in
  let s := (highest d zero - lowest d zero)%Z in
  let all := ((if zero then 0 else c_units (c_format d) w s) + Z.of_nat n * product_units (a_format d) (b_format d) w s)%Z in
  exact_ok d n zero f most &&
  match final d with
  | Some l => to_format (d_format d) (out l) (Z.log2 all + 1 + (lowest d zero - w) <=? emax (out l))%Z
  | None => false
  end.

(** For all finite operands, a finite result is the number of D that the rounding gives of the exact sum. *)
Theorem correctly_rounded d n zero f most ps c x z :
  correct_ok d n zero f most = true -> length ps = n ->
  forallb (finite_pair (a_format d) (b_format d)) ps = true -> decode (c_format d) c = Num x -> (zero = true -> c = 0%Z) ->
  value d (call ps c) = Num z ->
  exists l y, final d = Some l /\ decode (d_format d) (compute d (call ps c)) = Num y /\
    V y = round radix2 (FLT_exp (emin (out l) - fbits (d_format d)) (fbits (d_format d) + 1)) (rnd (rho (out l)))
      (V x + Rsum (map (pair_value (a_format d) (b_format d)) ps)).
Proof.
  intros O Ln Fp Dc Zc Hz. unfold correct_ok in O. cbv zeta in O. apply andb_prop in O. destruct O as [O C].
  destruct (final d) as [l|] eqn:Fl; [|easy].
  unfold to_format in C. repeat rewrite andb_true_iff in C. destruct C as [[[Ho Pl] Pf] _]. apply Z.eqb_eq in Pf.
  destruct (sum_exact d l n zero f most ps c x O Fl Ln Fp Dc Zc) as [s [m [u [E1 E2]]]].
  destruct (compute_value d (call ps c)) as [i Hi]. rewrite Hi, Hz. rewrite E1 in Hz.
  destruct (encode_decode _ _ _ _ _ _ i Ho Hz) as [y [Dy [Vy _]]]. exists l, y. split; auto. split; auto. rewrite Vy, (convert_num _ _ _ _ _ Pl Hz), E2.
  unfold flt_rnd, flt. now rewrite Pf.
Qed.

(** * Where sums of integers end to be exact *)

Definition last_rounding (how : summation) : option conversion :=
  match how with
  | OneSum (Stage l) | FromC _ (Stage l) | CLast _ _ (Stage l) | InSteps (Step (Stage l) _) => Some (out l)
  | _ => None
  end.

Definition result_rounding (d : design) : option conversion :=
  match cutting_of d, skips d, composed d with
  | _, _, Some how => Some (out (addition how))
  | Whole, false, None => last_rounding (sums d)
  | _, _, _ => None
  end.

(** A conversion to p + 1 bits gives no 2^(p+1) + 1. *)
Lemma convert_not_odd c s n u z : (0 <= p c)%Z -> (emin c <= emax c)%Z -> convert c s n u = Num z -> V z <> IZR (2 ^ (p c + 1) + 1).
Proof.
  intros P M H. destruct (convert_shape _ _ _ _ _ P M H) as [_ S]. intros E.
  assert (Sg : (0 <= sig z <= 2 ^ (p c + 1))%Z) by (destruct S as [[_ [S _]]|[_ ->]]; [lia|]; pose proof (pow2_pos (p c + 1) ltac:(lia)); lia).
  pose proof (pow2_pos (p c) P) as P2. assert (D : (2 ^ (p c + 1) = 2 * 2 ^ p c)%Z) by (rewrite Z.add_1_r, Z.pow_succ_r; lia).
  unfold V in E. destruct (Z_le_gt_dec (lsb z) 0) as [L|L].
  - assert (Q : IZR (signed z) = IZR ((2 ^ (p c + 1) + 1) * 2 ^ (- lsb z))).
    { rewrite mult_IZR, <- E, <- (bp_Z (- lsb z)), Rmult_assoc, <- bpow_plus by lia. replace (lsb z + - lsb z)%Z with 0%Z by lia. cbn. ring. }
    apply eq_IZR in Q. pose proof (pow2_pos (- lsb z) ltac:(lia)). assert (signed z <= sig z)%Z by (unfold signed; destruct (neg z); lia). nia.
  - rewrite bp_Z, <- mult_IZR in E by lia. apply eq_IZR in E. assert (Q : (2 ^ lsb z = 2 * 2 ^ (lsb z - 1))%Z).
    { rewrite <- (Z.pow_succ_r 2) by lia. f_equal. lia. }
    rewrite Q in E. assert (Z.even (signed z * (2 * 2 ^ (lsb z - 1))) = true) by (rewrite !Z.even_mul; cbn; now rewrite orb_true_r).
    rewrite E, D, Z.even_add, Z.even_mul in H0. easy.
Qed.

Lemma add_rounded l vs z : sum_values l vs = Num z -> exists s n u, convert (out l) s n u = Num z.
Proof.
  intros H. unfold sum_values in H. destruct (numbers vs) as [ts|]; [|exfalso; now apply (special_not_num vs z)]. unfold sum_numbers in H. eauto.
Qed.

Lemma chain_results_last s l : forall ps c z, ps <> [] -> last (chain_results s (Stage l) c ps) c = Num z -> exists a b, sum_values l [a; b] = Num z.
Proof.
  induction ps as [|x r IH]; intros c z N H; [easy|]. destruct r as [|y r].
  - cbn in H. eauto.
  - change (chain_results s (Stage l) c (x :: y :: r)) with (add s [c; x] :: chain_results s (Stage l) (add s [c; x]) (y :: r)) in H.
    destruct (chain_results s (Stage l) (add s [c; x]) (y :: r)) eqn:Q; [cbn in Q; destruct r; easy|].
    apply (IH (add s [c; x]) z); [easy|]. rewrite Q. cbn [last] in H |- *. destruct l0; auto.
    clear -H. revert H. generalize v0 l0. intros a m. revert a. induction m as [|b m IHm]; intros a H; [exact H|exact (IHm b H)].
Qed.

Lemma block_rounded how c r fs ps v z : last_rounding how = Some c -> ps <> [] -> block_sum how r None fs ps v = Num z ->
  exists s n u, convert c s n u = Num z.
Proof.
  intros L N H. destruct how as [[l|]| | | | | |a [l|]|i a [l|]|[| | |[l|] q]]; try easy; injection L as <-; cbn [block_sum add_from add eval_steps] in H.
  - eapply add_rounded; eauto.
  - destruct (chain_results_last a l ps v z N H) as [x [y E]]. eapply add_rounded; eauto.
  - eapply add_rounded; eauto.
  - eapply add_rounded; eauto.
Qed.

Definition integers_end_ok (d : design) (B : Z) : bool :=
  match result_rounding d with
  | Some c => (0 <=? p c)%Z && (emin c <=? emax c)%Z && (0 <? block d)%nat && (B =? p c + 1)%Z
  | None => false
  end.

(** No result is 2^B + 1, B = p + 1, so that the bound 2^(p+1) of exact ones is the largest. *)
Theorem integers_end d B w z : integers_end_ok d B = true -> pairs w <> [] -> value d w = Num z -> V z <> IZR (2 ^ B + 1).
Proof.
  unfold integers_end_ok. intros O N H. destruct (result_rounding d) as [c|] eqn:Rr; [|easy]. repeat rewrite andb_true_iff in O.
  destruct O as [[[P M] Bn] EB]. apply Z.eqb_eq in EB. subst B. apply Z.leb_le in P, M. apply Nat.ltb_lt in Bn.
  assert (E : exists s n u, convert c s n u = Num z); [|destruct E as [s [n [u E]]]; eapply convert_not_odd; eauto].
  unfold result_rounding in Rr. unfold value in H. destruct (composed d) as [how|] eqn:Co.
  - assert (c = out (addition how)) as -> by (destruct (cutting_of d), (skips d); congruence). eapply add_rounded; eauto.
  - destruct (cutting_of d) eqn:Cu; try easy. destruct (skips d) eqn:Sk; [easy|]. unfold values in H. set (xs := elements d w) in *.
    assert (NE : cut_list (length xs) (block d) xs <> []).
    { assert (L : length xs <> O) by (unfold xs; rewrite elements_length; destruct (pairs w); easy). destruct xs; [easy|]. cbn. easy. }
    destruct (exists_last NE) as [bs [b Eb]]. rewrite Eb, fold_left_app in H. cbn [fold_left] in H.
    assert (Nb : b <> []).
    { pose proof (cut_list_full (block d) Bn (length xs) xs (le_n _)) as F. rewrite Eb in F. apply Forall_app in F. destruct F as [_ F]. now inversion F. }
    unfold block_value, skipped, terms in H. rewrite Sk, Cu in H. cbn [andb fst snd] in H. eapply block_rounded; eauto.
    intros Q. apply map_eq_nil in Q. apply Nb. unfold ordered in Q. destruct (odd_first d); auto. apply (f_equal (@length _)) in Q.
    rewrite swapped_length in Q. now apply length_zero_iff_nil.
Qed.

(** * Monotone compositions *)

Definition last_c_ok (d : design) : bool :=
  match composed d with Some how => exact_node (addition how) && match of_c how with Kept => true | _ => false end | None => false end.

(** c <= c' implies d <= d' where c is added to a sum of its own, whatever that is, by a sum that is exact and then rounded. *)
Theorem monotone_in_last_c d w w' : last_c_ok d = true -> pairs w = pairs w' -> scale_words w = scale_words w' ->
  rises (decode (c_format d) (c_word w)) (decode (c_format d) (c_word w')) -> rises (value d w) (value d w').
Proof.
  unfold last_c_ok. intros O Ep Es H. unfold value. destruct (composed d) as [how|]; [|easy]. apply andb_prop in O. destruct O as [X Oc].
  destruct (of_c how) eqn:Ec; try easy. rewrite !flush_kept. assert (E : elements d w = elements d w') by (unfold elements; now rewrite Ep, Es). rewrite E.
  apply (add_rises (Stage (addition how))); [exact X|]. constructor; [apply rises_refl|]. constructor; [exact H|constructor].
Qed.
