(** Sums whose results are never subnormal: whether such would be flushed does not matter, nor whether sums of them normalise them. *)
From Coq Require Import ZArith List Bool Reals Psatz Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs Zeros Large Operands Stages.
Import ListNotations.
Open Scope Z_scope.

(** * One sum *)

Definition kept_results (c : conversion) : conversion :=
  {| rho := rho c; p := p c; emin := emin c; emax := emax c; overflow := overflow c; flushes := false; tiny := false; zsign := zsign c |}.

Lemma convert_kept c s n u : 0 <= p c -> (n <> 0 -> emin c <= Z.log2 (Z.abs n) + u) -> convert (kept_results c) s n u = convert c s n u.
Proof.
  intros P L. unfold convert. change (last_bit (kept_results c)) with (last_bit c). change (is_infinite (kept_results c)) with (is_infinite c).
  cbn [rho p emin emax flushes tiny zsign kept_results andb]. rewrite orb_false_r. destruct (Z.eq_dec n 0) as [->|N]; [rewrite round_div_0; reflexivity|].
  specialize (L N). unfold last_bit. destruct (Z.eqb_spec n 0); [easy|]. rewrite Z.max_l by lia. set (e := Z.log2 (Z.abs n) + u - p c).
  destruct (round_log (rho c) n (e - u) N ltac:(unfold e; lia)) as [Lg R].
  assert (T : flushes c && ((Z.log2 (Z.abs (round_div (rho c) n (e - u))) + e <? emin c) || tiny c && is_tiny c n u) = false).
  { destruct (Z.ltb_spec (Z.log2 (Z.abs (round_div (rho c) n (e - u))) + e) (emin c)); [unfold e in *; lia|]. unfold is_tiny. cbv zeta. fold e.
    destruct (Z.ltb_spec (Z.log2 (Z.abs (round_div (rho c) n (e - u))) + e) (emin c)); [unfold e in *; lia|]. now rewrite !andb_false_r. }
  rewrite T, orb_false_r. reflexivity.
Qed.

(** A number that is zero or has a leading 1. *)
Definition normal_or_zero (v : val) : Prop := forall x, v = Num x -> is_zero x = true \/ low_sig x = false.

Definition flushed (r : flush_rule) : bool := match r with PositiveZero | SignedZero => true | _ => false end.

Lemma flush_normal r b v : flushed r = true -> inside b v -> normal_or_zero (flush r v).
Proof.
  intros R I x E. destruct v as [y| |]; try easy. destruct (I y eq_refl) as [[S _] _]. unfold flush in E. destruct (is_subnormal y) eqn:Q; cbn [negb] in E.
  - left. destruct r; try easy; injection E as <-; reflexivity.
  - injection E as <-. unfold is_subnormal in Q. destruct (is_zero y) eqn:Z; [now left|]. right. unfold low_sig. rewrite Z. cbn [negb andb orb] in *. apply Z.ltb_ge in Q. apply Z.ltb_ge.
    unfold is_zero in Z. apply Z.eqb_neq in Z. destruct (Z.log2_spec (sig y)) as [L _]; [lia|]. eapply Z.le_trans; [|exact L]. destruct (Z_lt_le_dec (frac y) 0); [rewrite Z.pow_neg_r by auto; apply Z.pow_nonneg; lia|].
    apply Z.pow_le_mono_r; lia.
Qed.

(** What is known of an operand, and whether it is normal or zero. *)
Definition known (b : bounds * bool) (v : val) : Prop := inside (fst b) v /\ (snd b = true -> normal_or_zero v).

(** All operands but one at most are multiples of [2^g], and that one is normal or zero and has bits above [2^g] only, or none. *)
Definition coarse (g : Z) (b : bounds * bool) : bool := negb (g <=? grid (fst b)).
Definition at_most_one (g e : Z) (bs : list (bounds * bool)) : bool :=
  (e <=? g) && (Z.of_nat (length (filter (coarse g) bs)) <=? 1) &&
  forallb (fun b => negb (coarse g b) || snd b && (e <=? lowest (fst b)) && (0 <=? width (fst b)) && (e + 1 + width (fst b) <=? g) &&
    (0 <=? snd (shape_of (fst b))) && (fst (shape_of (fst b)) <? 2 ^ (snd (shape_of (fst b)) + 1))) bs.

Lemma normal_size b x : inside b (Num x) -> low_sig x = false -> 0 <= snd (shape_of b) -> fst (shape_of b) < 2 ^ (snd (shape_of b) + 1) ->
  (bp (exp x) <= Rabs (V x) < bp (exp x + 1))%R.
Proof.
  intros I L Sp Sf. destruct (I x eq_refl) as [[S F] _]. assert (A : Rabs (V x) = (IZR (sig x) * bp (- frac x) * bp (exp x))%R).
  { unfold V, lsb. rewrite Rabs_mult, (Rabs_pos_eq (bp _)), <- abs_IZR, Rmult_assoc, <- bpow_plus by apply bpow_ge_0. f_equal; [f_equal; unfold signed; destruct (neg x); lia|f_equal; lia]. }
  rewrite A. unfold low_sig in L. apply orb_false_elim in L. destruct L as [Z L]. unfold is_zero in Z. apply Z.eqb_neq in Z. apply Z.ltb_ge in L. split.
  - rewrite <- (Rmult_1_l (bp (exp x))) at 1. apply Rmult_le_compat_r; [apply bpow_ge_0|]. destruct (Z_lt_le_dec (frac x) 0) as [N|N].
    + assert (1 <= bp (- frac x))%R by (change 1%R with (bp 0); apply bpow_le; lia). assert (1 <= IZR (sig x))%R by (apply IZR_le; lia). nra.
    + apply IZR_le in L. rewrite <- bp_Z in L by auto. apply Rle_trans with (bp (frac x) * bp (- frac x))%R; [rewrite <- bpow_plus; replace (frac x + - frac x) with 0 by lia; cbn; lra|].
      apply Rmult_le_compat_r; [apply bpow_ge_0|exact L].
  - replace (exp x + 1) with (1 + exp x) by lia. rewrite bpow_plus. apply Rmult_lt_compat_r; [apply bpow_gt_0|]. eapply Rle_lt_trans; [exact F|].
    apply Rlt_le_trans with (bp (snd (shape_of b) + 1) * bp (- snd (shape_of b)))%R; [apply Rmult_lt_compat_r; [apply bpow_gt_0|]; rewrite bp_Z by lia; now apply IZR_lt|].
    rewrite <- bpow_plus. apply bpow_le. lia.
Qed.

(** Their exact sum is zero or at least [2^e]. *)
Lemma sum_normal g e bs ts : at_most_one g e bs = true -> Forall2 (fun b x => known b (Num x)) bs ts -> exact_sum ts <> 0%R -> (bp e <= Rabs (exact_sum ts))%R.
Proof.
  unfold at_most_one. intros O K N. repeat rewrite andb_true_iff in O. destruct O as [[Eg C] A]. apply Z.leb_le in Eg, C. rewrite forallb_forall in A.
  assert (Mul : forall k j, k <= j -> forall r q, (r = IZR q * bp j)%R -> r <> 0%R -> (bp k <= Rabs r)%R).
  { intros k j Kj r q -> Nz. rewrite Rabs_mult, (Rabs_pos_eq (bp j)), <- abs_IZR by apply bpow_ge_0. assert (q <> 0) by (intros ->; apply Nz; ring).
    apply Rle_trans with (bp j); [now apply bpow_le|]. rewrite <- (Rmult_1_l (bp j)) at 1. apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. lia. }
  assert (G : forall l us, (forall b, In b l -> In b bs) -> Forall2 (fun b x => known b (Num x)) l us -> Z.of_nat (length (filter (coarse g) l)) <= 1 ->
    exists q, exact_sum us = (IZR q * bp g)%R \/ exists b x, In b bs /\ coarse g b = true /\ known b (Num x) /\ exact_sum us = (IZR q * bp g + V x)%R).
  { intros l us Sub F. induction F as [|b x l us Kx F IH]; intros Cl; [exists 0; left; unfold exact_sum; cbn; ring|]. assert (Xs : exact_sum (x :: us) = (V x + exact_sum us)%R) by reflexivity.
    destruct (coarse g b) eqn:Cb; cbn [filter] in Cl; rewrite Cb in Cl; cbn [length] in Cl.
    - assert (Fine : exists q, exact_sum us = (IZR q * bp g)%R).
      { assert (Cl0 : filter (coarse g) l = []) by (destruct (filter (coarse g) l); [reflexivity|cbn [length] in Cl; lia]). clear -F Cl0. induction F as [|b x l us Kx F IH]; [exists 0; unfold exact_sum; cbn; ring|].
        cbn [filter] in Cl0. destruct (coarse g b) eqn:Cb; [easy|]. destruct (IH Cl0) as [q Q]. unfold coarse in Cb. apply negb_false_iff in Cb. apply Z.leb_le in Cb.
        destruct Kx as [I _]. destruct (I x eq_refl) as [_ [_ [M _]]]. destruct (multiple_le (grid (fst b)) g x Cb M) as [k Mk]. exists (k * 2 ^ Z.max 0 (lsb x - g) + q).
        assert (Xs : exact_sum (x :: us) = (V x + exact_sum us)%R) by reflexivity. rewrite Xs, Q, plus_IZR, Rmult_plus_distr_r. f_equal. unfold V. rewrite Mk, !mult_IZR, <- !bp_Z, !Rmult_assoc, <- !bpow_plus by lia. do 2 f_equal. lia. }
      destruct Fine as [q Q]. exists q. right. exists b, x. split; [apply Sub; now left|]. split; [exact Cb|]. split; [exact Kx|]. rewrite Xs, Q. ring.
    - destruct IH as [q [Q|[c [y [Hc [Cc [Ky Q]]]]]]]; auto. { intros c Hc. apply Sub. now right. }
      1, 2: unfold coarse in Cb; apply negb_false_iff in Cb; apply Z.leb_le in Cb; destruct Kx as [I _]; destruct (I x eq_refl) as [_ [_ [M _]]];
        destruct (multiple_le (grid (fst b)) g x Cb M) as [k Mk]; exists (k * 2 ^ Z.max 0 (lsb x - g) + q);
        assert (Vx : V x = (IZR (k * 2 ^ Z.max 0 (lsb x - g)) * bp g)%R) by (unfold V; rewrite Mk, !mult_IZR, <- !bp_Z, !Rmult_assoc, <- !bpow_plus by lia; do 2 f_equal; lia).
      + left. rewrite Xs, Q, Vx, plus_IZR. ring.
      + right. exists c, y. split; [exact Hc|]. split; [exact Cc|]. split; [exact Ky|]. rewrite Xs, Q, Vx, plus_IZR. ring. }
  destruct (G bs ts ltac:(auto) K ltac:(lia)) as [q [Q|[b [x [Hb [Cb [[I Nx] Q]]]]]]]; [now apply (Mul e g Eg _ q)|].
  specialize (A b Hb). rewrite Cb in A. cbn [negb orb] in A. repeat rewrite andb_true_iff in A. destruct A as [[[[[Fl Lo] W0] Wg] Sp] Sf]. apply Z.leb_le in Lo, W0, Wg, Sp. apply Z.ltb_lt in Sf.
  destruct (Nx Fl x eq_refl) as [Z|L].
  { rewrite (V_zero x Z), Rplus_0_r in Q. now apply (Mul e g Eg _ q). }
  destruct (normal_size (fst b) x I L Sp Sf) as [B1 B2]. destruct (I x eq_refl) as [_ [Lx [_ [_ Wx]]]].
  destruct (Z.eq_dec q 0) as [->|Nq].
  { rewrite Q, Rmult_0_l, Rplus_0_l. eapply Rle_trans; [|exact B1]. apply bpow_le. lia. }
  destruct (Z_le_gt_dec e (exp x - width (fst b))) as [H|H].
  - assert (Vx : exists k, V x = (IZR k * bp e)%R) by (exists (signed x * 2 ^ (lsb x - e)); unfold V; rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by (unfold lsb; lia); do 2 f_equal; lia).
    destruct Vx as [k Vx]. apply (Mul e e ltac:(lia) _ (q * 2 ^ (g - e) + k)); auto. rewrite Q, Vx, plus_IZR, mult_IZR, <- bp_Z by lia. rewrite Rmult_plus_distr_r, Rmult_assoc, <- bpow_plus. do 3 f_equal. lia.
  - assert (X1 : (bp g <= Rabs (IZR q * bp g))%R).
    { rewrite Rabs_mult, (Rabs_pos_eq (bp g)), <- abs_IZR by apply bpow_ge_0. rewrite <- (Rmult_1_l (bp g)) at 1. apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. lia. }
    assert (X2 : (2 * bp (e + width (fst b)) <= bp g)%R) by (change 2%R with (bp 1); rewrite <- bpow_plus; apply bpow_le; lia).
    assert (X3 : (bp (exp x + 1) <= bp (e + width (fst b)))%R) by (apply bpow_le; lia). assert (X4 : (bp e <= bp (e + width (fst b)))%R) by (apply bpow_le; lia).
    rewrite Q. pose proof (Rabs_triang_inv (IZR q * bp g) (- V x)) as T. rewrite Rabs_Ropp in T. unfold Rminus in T. rewrite Ropp_involutive in T. lra.
Qed.

(** * Operands with the exponents of their leading bits *)

(** An operand that is zero, or whose exponent is that of its leading bit. *)
Definition leading (b : bounds * bool) : bool :=
  snd b && (0 <=? snd (shape_of (fst b))) && (fst (shape_of (fst b)) <? 2 ^ (snd (shape_of (fst b)) + 1)).

Lemma lead_same b x : leading b = true -> known b (Num x) -> lead x = x.
Proof.
  unfold leading. intros O [I N]. repeat rewrite andb_true_iff in O. destruct O as [[F S0] S1]. apply Z.leb_le in S0. apply Z.ltb_lt in S1.
  unfold lead. destruct (is_zero x) eqn:Zo; [reflexivity|]. destruct (N F x eq_refl) as [Zx|L]; [congruence|].
  pose proof (normal_size (fst b) x I L S0 S1) as B. destruct (I x eq_refl) as [[S _] _]. unfold is_zero in Zo. apply Z.eqb_neq in Zo.
  assert (E : own_exponent x = exp x).
  { unfold own_exponent. assert (A : Z.abs (sig x) = Z.abs (signed x)) by (unfold signed; destruct (neg x); lia). rewrite A.
    pose proof (log2_mag (signed x) (lsb x) ltac:(unfold signed; destruct (neg x); lia)) as M.
    assert (M' : (mag radix2 (IZR (signed x) * bp (lsb x)) : Z) = exp x + 1) by (apply mag_unique; replace (exp x + 1 - 1) with (exp x) by lia; exact B). lia. }
  rewrite E. unfold at_exponent. destruct x as [s m e f]. cbn [neg sig exp frac]. f_equal. lia.
Qed.

(** A sum that sees no operand with another exponent than that of its leading bit. *)
Definition plain_lead (bs : list (bounds * bool)) (d : sum) : sum := if forallb leading bs then with_normalise d false else d.

Lemma plain_lead_ok bs d vs : Forall2 known bs vs -> sum_values (plain_lead bs d) vs = sum_values d vs.
Proof.
  intros K. unfold plain_lead. destruct (forallb leading bs) eqn:A; [|reflexivity]. destruct (normalise d) eqn:N.
  - rewrite <- (lead_values d vs N). f_equal. rewrite forallb_forall in A. revert A. induction K as [|b v bs vs Kv K IH]; intros A; [reflexivity|]. cbn [map]. rewrite <- IH by (intros y Hy; apply A; now right). f_equal.
    destruct v as [x| |]; try reflexivity. cbn [on_num]. f_equal. symmetry. apply (lead_same b); auto. apply A. now left.
  - f_equal. destruct d. cbn in N. subst. reflexivity.
Qed.

(** Whether no sum but zero is below the least normal number. *)
Definition never_flushed (bs : list (bounds * bool)) (d : sum) : bool :=
  (0 <=? p (out d)) && none (carry_bits d) && ((emin (out d) <=? sum_grid (map fst bs) d) ||
  none (fraction_bits d) && at_most_one (emin (out d) + 1 + most_of width (map fst (filter snd bs))) (emin (out d)) bs).

Lemma never_flushed_ok bs d vs : never_flushed bs d = true -> Forall2 known bs vs ->
  sum_values (with_out d (kept_results (out d))) vs = sum_values d vs.
Proof.
  unfold never_flushed. intros O K. repeat rewrite andb_true_iff in O. destruct O as [[P C] O]. apply Z.leb_le in P.
  assert (C' : carry_bits d = None) by now destruct (carry_bits d).
  unfold sum_values. destruct (numbers vs) as [ts|] eqn:Nu; [|reflexivity]. unfold sum_numbers. cbn [out with_out]. change (rho (kept_results (out d))) with (rho (out d)).
  change (total (with_out d _) ts) with (total d ts). change (counts (with_out d _) ts) with (counts d ts). change (unit_of (with_out d _) ts) with (unit_of d ts).
  apply convert_kept; auto. intros N. apply orb_prop in O. destruct O as [O|O].
  - apply Z.leb_le in O. eapply Z.le_trans; [exact O|]. apply (grid_log (map fst bs) d vs ts); auto. apply covered_all. clear -K. induction K as [|b v bs vs [I _] K IH]; cbn [map]; constructor; auto.
  - apply andb_prop in O. destruct O as [F O]. assert (F' : fraction_bits d = None) by now destruct (fraction_bits d).
    assert (T : (IZR (total d ts) * bp (unit_of d ts) = exact_sum ts)%R).
    { unfold total. rewrite C'. apply multiples_total. now apply exact_multiples. }
    assert (Kt : Forall2 (fun b x => known b (Num x)) bs ts).
    { unfold numbers in Nu. destruct (forallb is_num vs) eqn:A; [|easy]. injection Nu as <-. clear -K A. induction K as [|b v bs vs Kv K IH]; [constructor|]. cbn [forallb map] in *.
      apply andb_prop in A. destruct A as [Av A]. constructor; auto. now destruct v. }
    assert (Nz : exact_sum ts <> 0%R) by (rewrite <- T; intros Z; apply N; apply eq_IZR; pose proof (bpow_gt_0 radix2 (unit_of d ts)); nra).
    pose proof (sum_normal _ _ _ _ O Kt Nz) as B. rewrite <- T in B. pose proof (log2_mag (total d ts) (unit_of d ts) N) as L.
    assert (M : emin (out d) < mag radix2 (IZR (total d ts) * bp (unit_of d ts))).
    { apply (lt_bpow radix2). eapply Rle_lt_trans; [exact B|]. apply bpow_mag_gt. }
    lia.
Qed.

(** The same sum that keeps subnormal results, of which there are none, and sees exponents as they are. *)
Definition settled (bs : list (bounds * bool)) (d : sum) : sum :=
  let e := plain_lead bs d in if never_flushed bs e then with_out e (kept_results (out e)) else e.

Lemma settled_ok bs d vs : Forall2 known bs vs -> sum_values (settled bs d) vs = sum_values d vs.
Proof.
  intros K. unfold settled. rewrite <- (plain_lead_ok bs d vs K). destruct (never_flushed bs (plain_lead bs d)) eqn:N; [|reflexivity]. now apply (never_flushed_ok bs).
Qed.

Lemma settled_zero bs d : zero_of (Floating (out (settled bs d))) = zero_of (Floating (out d)).
Proof. unfold settled, plain_lead. now destruct (forallb leading bs), (never_flushed bs _). Qed.

(** Two sums that differ in nothing else. *)
Definition same_settled (bs : list (bounds * bool)) (d d' : sum) : bool := if sum_eq (settled bs d') (settled bs d) then true else false.

Lemma same_settled_ok bs d d' vs : same_settled bs d d' = true -> Forall2 known bs vs -> sum_values d' vs = sum_values d vs.
Proof. unfold same_settled. destruct (sum_eq _ _) as [E|]; [|easy]. intros _ K. now rewrite <- (settled_ok bs d vs K), <- (settled_ok bs d' vs K), E. Qed.

Lemma same_settled_zero bs d d' : same_settled bs d d' = true -> zero_of (Floating (out d')) = zero_of (Floating (out d)).
Proof. unfold same_settled. destruct (sum_eq _ _) as [E|]; [|easy]. intros _. now rewrite <- (settled_zero bs d), <- (settled_zero bs d'), E. Qed.

(** Results of which none is subnormal. *)
Definition never_low (bs : list bounds) (d : sum) : bool := (0 <=? p (out d)) && none (carry_bits d) && (emin (out d) <=? sum_grid bs d).

Lemma never_low_normal bs d vs : never_low bs d = true -> covered bs vs -> normal_or_zero (sum_values d vs).
Proof.
  unfold never_low. intros O Cv x E. repeat rewrite andb_true_iff in O. destruct O as [[P C] G]. apply Z.leb_le in P, G. assert (C' : carry_bits d = None) by now destruct (carry_bits d).
  unfold sum_values in E. destruct (numbers vs) as [ts|] eqn:Nu; [|unfold special_sum in E; destruct (existsb _ vs) in E; [easy|]; destruct (existsb _ vs) in E; destruct (existsb _ vs) in E; easy].
  unfold sum_numbers, convert in E. set (n := total d ts) in *. set (u := unit_of d ts) in *.
  destruct (Z.eq_dec n 0) as [N|N].
  { rewrite N, round_div_0 in E. cbn [Z.eqb orb] in E. injection E as <-. now left. }
  pose proof (grid_log bs d vs ts C' Cv Nu N) as L. fold n u in L. assert (El : last_bit (out d) n u = Z.log2 (Z.abs n) + u - p (out d)) by (unfold last_bit; destruct (Z.eqb_spec n 0); [easy|lia]).
  rewrite El in E. set (e := Z.log2 (Z.abs n) + u - p (out d)) in *. destruct (round_log (rho (out d)) n (e - u) N ltac:(unfold e; lia)) as [Lg R]. set (r := round_div (rho (out d)) n (e - u)) in *.
  destruct (_ || _) in E; [injection E as <-; now left|]. destruct (emax (out d) <? _) in E.
  - destruct (is_infinite _ _) in E; [easy|]. injection E as <-. right. unfold low_sig, is_zero. cbn [sig frac].
    assert (2 ^ (p (out d) + 1) = 2 * 2 ^ p (out d)) by (rewrite Z.pow_add_r by lia; lia). pose proof (pow_pos (p (out d)) P) as Pp.
    destruct (Z.eqb_spec (2 ^ (p (out d) + 1) - 1) 0); [lia|]. cbn [orb]. apply Z.ltb_ge. lia.
  - injection E as <-. right. unfold low_sig, is_zero. cbn [sig frac]. rewrite Z.max_l by (unfold e in *; lia). destruct (Z.eqb_spec (Z.abs r) 0); [lia|]. cbn [orb]. apply Z.ltb_ge.
    replace (Z.log2 (Z.abs r) + e - e) with (Z.log2 (Z.abs r)) by lia. apply Z.log2_spec. lia.
Qed.

(** * Sums in steps, and with c last *)

Definition normal_step (r : flush_rule) (tb cb : bounds) (x : steps) : bool :=
  match x with
  | C => flushed r
  | PlusZero => true
  | Product _ => false
  | Step (Stage d) l => flushed r || never_low (map (operand_bounds tb cb d) l) d
  | Step _ _ => false
  end.

(** The same sums, in some of which it does not matter whether results are flushed, or operands normalised. *)
Fixpoint kept_steps (r : flush_rule) (tb cb : bounds) (t t' : steps) {struct t} : bool :=
  match t, t' with
  | Product k, Product k' => Nat.eqb k k'
  | C, C | PlusZero, PlusZero => true
  | Step (Stage d) l, Step (Stage d') l' =>
      range_ok (out d) &&
      (if sum_eq d' d then true else same_settled (map (fun x => (operand_bounds tb cb d x, normal_step r tb cb x)) l) d d') &&
      (fix go (l l' : list steps) : bool := match l, l' with
         | [], [] => true
         | x :: q, x' :: q' => kept_steps r tb cb x x' && go q q'
         | _, _ => false
         end) l l'
  | _, _ => false
  end.

Section Steps.
Variables (tb cb : bounds) (r : flush_rule) (ps : list val) (c : val).
Hypothesis (K : kept_or_zero r = true) (Hp : Forall (inside tb) ps) (Hc : inside cb c) (Nc : flushed r = true -> normal_or_zero c).

Lemma kept_steps_ok t : forall t', kept_steps r tb cb t t' = true ->
  eval_steps r ps c t' = eval_steps r ps c t /\
  match t with
  | Step (Stage d) l => inside (sum_result (map (operand_bounds tb cb d) l) d) (eval_steps r ps c t) /\
      (never_low (map (operand_bounds tb cb d) l) d = true -> normal_or_zero (eval_steps r ps c t))
  | _ => True
  end.
Proof.
  induction t as [k| | |s l IH] using steps_ind'; intros t' O; destruct t' as [k'| | |s' l']; cbn [kept_steps] in O; try easy.
  - apply Nat.eqb_eq in O. now subst.
  - now destruct s.
  - now destruct s.
  - now destruct s.
  - destruct s as [d|], s' as [d'|]; try easy. repeat rewrite andb_true_iff in O. destruct O as [[R E] G]. cbn [eval_steps add].
    set (f := fun x => let v := eval_steps r ps c x in match x with Step _ _ => flush r v | PlusZero => zero_of (stage_rounding (Stage d)) | _ => v end).
    set (f' := fun x => let v := eval_steps r ps c x in match x with Step _ _ => flush r v | PlusZero => zero_of (stage_rounding (Stage d')) | _ => v end).
    assert (Z0 : zero_of (Floating (out d')) = zero_of (Floating (out d))) by (destruct (sum_eq d' d) as [->|]; [reflexivity|]; eapply same_settled_zero; eauto).
    assert (A : Forall2 known (map (fun x => (operand_bounds tb cb d x, normal_step r tb cb x)) l) (map f l) /\ map f' l' = map f l).
    { clear E. revert l' G. induction IH as [|x l P IH IHl]; intros l' G; destruct l' as [|x' l']; try discriminate G; [split; [constructor|reflexivity]|]. apply andb_prop in G. destruct G as [G1 G2].
      destruct (IHl l' G2) as [F M]. destruct (P x' G1) as [P1 P2]. cbn [map]. assert (Px : f' x' = f x /\ known (operand_bounds tb cb d x, normal_step r tb cb x) (f x)).
      { unfold f, f'. cbv zeta. rewrite P1. unfold known. cbn [fst snd]. destruct x as [k| | |[e|] m]; destruct x' as [k'| | |[e'|] m']; try easy; cbn [operand_bounds normal_step stage_rounding].
        - split; [reflexivity|]. split; [now apply product_inside|easy].
        - rewrite Z0. split; [reflexivity|]. split; [now apply zero_inside|]. intros _ y Hy. left. injection Hy as <-. reflexivity.
        - destruct P2 as [P2 P3]. split; [reflexivity|]. split; [now apply flush_inside|]. intros Fr. apply orb_prop in Fr. destruct (flushed r) eqn:Fl; [now apply flush_normal with (sum_result (map (operand_bounds tb cb e) m) e)|].
          destruct Fr as [Fr|Fr]; [easy|]. destruct r; try easy. rewrite flush_kept. now apply P3. }
      destruct Px as [Px1 Px2]. rewrite Px1, M. split; [now constructor|reflexivity]. }
    destruct A as [A M]. rewrite M. split.
    + destruct (sum_eq d' d) as [->|]; [reflexivity|]. eapply same_settled_ok; eauto.
    + assert (Cv : covered (map (operand_bounds tb cb d) l) (map f l)).
      { apply covered_all. clear -A. induction l as [|x l IHl]; cbn [map] in *; [constructor|]. inversion A; subst. constructor; [apply H2|now apply IHl]. }
      split; [now apply sum_result_inside|]. intros Nl. now apply never_low_normal with (map (operand_bounds tb cb d) l).
Qed.
End Steps.

(** Of a block with products of [tb], [n] at most, and c of [cb]. *)
Definition kept_summation (r : flush_rule) (tb cb : bounds) (n : nat) (how how' : summation) : bool :=
  match how, how' with
  | CLast Together (Stage d) (Stage e), CLast Together (Stage d') (Stage e') =>
      (if sum_eq d' d then true else false) && range_ok (out d) && range_ok (out e) && (0 <=? fst (shape_of tb)) &&
      same_settled [(sum_result (repeat tb n) d, false); (cb, flushed r)] e e'
  | InSteps (Step s l), InSteps t => kept_steps r tb cb (Step s l) t
  | _, _ => false
  end.

Definition kept_design (d : design) (how : summation) : bool :=
  one_nan d && parts_ok d && (0 <? Z.of_nat (block d)) && format_ok (start_format d) && kept_or_zero (c_rule d) && negb (skips d) &&
  match cutting_of d, zero_terms (factors d) with Whole, None => true | _, _ => false end &&
  match term_bounds d, last_out (sums d) with
  | Some tb, Some o => kept_summation (c_rule d) tb (format_bounds (start_format d)) (block d) (sums d) how &&
                       kept_summation (c_rule d) tb (result_bounds o) (block d) (sums d) how
  | _, _ => false
  end.

(** Results of which none is subnormal, and that would be flushed, or normalised, or not: the same word. *)
Theorem flushes_idle d how w : kept_design d how = true -> pairs w <> [] -> compute d w = compute (with_sums d how) w.
Proof.
  unfold kept_design. intros O N. repeat rewrite andb_true_iff in O. destruct O as [[[[[[[On Po] B] Of] K] Sk] Cz] O].
  destruct (cutting_of d) eqn:W; try easy. destruct (zero_terms (factors d)) eqn:Zt; [easy|]. clear Cz. apply negb_true_iff in Sk.
  destruct (term_bounds d) as [tb|] eqn:T; [|easy]. destruct (last_out (sums d)) as [o|] eqn:Lo; [|easy]. apply andb_prop in O. destruct O as [G1 G2].
  set (good := fun cb => kept_summation (c_rule d) tb cb (block d) (sums d) how = true). symmetry.
  apply (compute_alike d (with_sums d how) (fun v => exists cb, good cb /\ inside cb v)); try exact On; try exact Po; try exact N; [repeat split|lia| |].
  - intros b v L Mb [cb [G Iv]]. pose proof (products_inside d tb b T Mb) as Hp. assert (Lp : (length (block_products d b) <= block d)%nat) by now rewrite block_products_length.
    assert (Ic : inside cb (taken_c d v)) by (rewrite taken_kept by auto; now apply flush_inside).
    assert (Nc : flushed (c_rule d) = true -> normal_or_zero (taken_c d v)) by (intros F; rewrite taken_kept by auto; now apply flush_normal with cb).
    assert (Bv : forall e, block_value (with_sums d e) v b = block_sum e (c_rule d) None (whole_factors (with_sums d e) (ordered d b)) (block_products d b) (taken_c d v)).
    { intros e. unfold block_value, skipped, terms. change (skips (with_sums d e)) with (skips d). change (cutting_of (with_sums d e)) with (cutting_of d). rewrite Sk, W. reflexivity. }
    assert (D : with_sums d (sums d) = d) by now destruct d. pose proof (Bv (sums d)) as Bd. rewrite D in Bd. rewrite Bv, Bd. clear Bv Bd.
    generalize (whole_factors (with_sums d how) (ordered d b)) as fs', (whole_factors d (ordered d b)) as fs. intros fs' fs. revert Lp Hp. generalize (block_products d b) as ps. intros ps Lp Hp.
    assert (E : block_sum how (c_rule d) None fs' ps (taken_c d v) = block_sum (sums d) (c_rule d) None fs ps (taken_c d v) /\
                inside (result_bounds o) (block_sum (sums d) (c_rule d) None fs ps (taken_c d v))).
    { unfold good, kept_summation in G. destruct (sums d) as [[s|]| | | | | | |[| | | |] [s|] [e|]|[| | |[s|] l]] eqn:S; try discriminate G; cbn [last_out] in Lo; try discriminate Lo;
        destruct how as [[s'|]| | | | | | |[| | | |] [s'|] [e'|]|t']; try discriminate G; injection Lo as <-; cbn [block_sum add_from inner_sum add].
      - repeat rewrite andb_true_iff in G. destruct G as [[[[G Ri] Re] Ps] Gf]. destruct (sum_eq s' s) as [->|]; [|discriminate G]. apply Z.leb_le in Ps.
        split; [|now apply sum_inside]. eapply same_settled_ok; [exact Gf|]. constructor; [|constructor; [split; auto|constructor]]. split; [|easy]. cbn [fst].
        apply sum_result_inside; auto. rewrite <- (app_nil_r (repeat tb (block d))), <- (app_nil_r ps). apply covered_fewer; auto.
      - destruct (kept_steps_ok tb cb (c_rule d) ps (taken_c d v) K Hp Ic Nc _ _ G) as [E _]. split; [exact E|]. cbn [eval_steps add]. apply sum_inside.
        cbn [kept_steps] in G. destruct t' as [| | |[|] ?]; try discriminate G. repeat rewrite andb_true_iff in G. apply G. }
    destruct E as [E I]. rewrite E. split; [reflexivity|]. exists (result_bounds o). auto.
  - exists (format_bounds (start_format d)). split; [exact G1|]. now apply decode_inside.
Qed.

(** * Subnormals of a c that is not added *)

Lemma flush_leading r v : normal_or_zero v -> flush r v = v.
Proof.
  intros N. destruct v as [x| |]; try reflexivity. unfold flush. assert (S : is_subnormal x = false); [|now rewrite S]. unfold is_subnormal.
  destruct (N x eq_refl) as [Z|L]; [now rewrite Z|]. unfold low_sig in L. apply orb_false_elim in L. destruct L as [-> L]. cbn [negb andb]. apply Z.ltb_ge in L. apply Z.ltb_ge.
  destruct (Z_lt_le_dec (frac x) 0); [pose proof (Z.log2_nonneg (sig x)); lia|]. rewrite <- (Z.log2_pow2 (frac x)) by auto. now apply Z.log2_le_mono.
Qed.

(** Sums without c of which no result that another one adds is subnormal. *)
Fixpoint free_steps (tb : bounds) (t : steps) : bool :=
  match t with
  | C | Step (FixedStage _ _) _ => false
  | Step (Stage d) l => range_ok (out d) && forallb (fun x => match x with Step (Stage e) m => never_low (map (operand_bounds tb tb e) m) e | _ => true end) l &&
      forallb (free_steps tb) l
  | _ => true
  end.

Lemma free_steps_ok tb r ps c c' t : Forall (inside tb) ps -> free_steps tb t = true -> eval_steps r ps c t = eval_steps Kept ps c' t /\
  match t with
  | Step (Stage d) l => inside (sum_result (map (operand_bounds tb tb d) l) d) (eval_steps r ps c t) /\
      (never_low (map (operand_bounds tb tb d) l) d = true -> normal_or_zero (eval_steps r ps c t))
  | _ => True
  end.
Proof.
  intros Hp. induction t as [k| | |s l IH] using steps_ind'; intros O; try easy. destruct s as [d|]; [|easy]. cbn [free_steps] in O. repeat rewrite andb_true_iff in O. destruct O as [[R Lo] Fr].
  set (f := fun r c x => let v := eval_steps r ps c x in match x with Step _ _ => flush r v | PlusZero => zero_of (stage_rounding (Stage d)) | _ => v end).
  assert (A : map (f r c) l = map (f Kept c') l /\ Forall2 inside (map (operand_bounds tb tb d) l) (map (f r c) l)).
  { induction IH as [|x l P IH IHl]; [split; [reflexivity|constructor]|]. cbn [forallb map] in *. apply andb_prop in Lo, Fr. destruct Lo as [L1 L2], Fr as [F1 F2]. destruct (IHl L2 F2) as [M I].
    destruct (P F1) as [E Q]. assert (X : f r c x = f Kept c' x /\ inside (operand_bounds tb tb d x) (f r c x)).
    { unfold f. cbv zeta. destruct x as [k| | |[e|] m]; try easy; cbn [operand_bounds stage_rounding].
      - split; [exact E|now apply product_inside].
      - split; [reflexivity|now apply zero_inside].
      - destruct Q as [I1 I2]. rewrite (flush_leading r) by auto. rewrite flush_kept. now split. }
    destruct X as [X1 X2]. rewrite X1, M. split; [reflexivity|]. rewrite <- X1, <- M. now constructor. }
  destruct A as [M I]. split; [cbn [eval_steps]; f_equal; exact M|]. cbn [eval_steps add]. pose proof (covered_all _ _ I) as Cv.
  split; [now apply sum_result_inside|]. intros Nl. now apply never_low_normal with (map (operand_bounds tb tb d) l).
Qed.

Definition rule_free (d : design) : bool :=
  one_nan d && parts_ok d && (0 <? Z.of_nat (block d)) && negb (skips d) && match cutting_of d, zero_terms (factors d) with Whole, None => true | _, _ => false end &&
  match term_bounds d, sums d with Some tb, InSteps t => free_steps tb t | _, _ => false end.

(** What a subnormal c counts as, where no sum adds c, and none adds a subnormal result: the same word. *)
Theorem free_rule_idle d w : rule_free d = true -> pairs w <> [] -> compute d w = compute (with_rule d Kept) w.
Proof.
  unfold rule_free. intros O N. repeat rewrite andb_true_iff in O. destruct O as [[[[[On Po] B] Sk] Cz] O]. destruct (cutting_of d) eqn:W; try easy. destruct (zero_terms (factors d)) eqn:Zt; [easy|]. clear Cz.
  apply negb_true_iff in Sk. destruct (term_bounds d) as [tb|] eqn:T; [|easy]. destruct (sums d) as [| | | | | | | |t] eqn:S; try discriminate O. symmetry.
  apply (compute_alike d (with_rule d Kept) (fun _ => True)); try exact On; try exact Po; try exact N; [repeat split|lia| |exact I].
  intros b v L Mb _. split; [|exact I]. unfold block_value, skipped, terms. change (skips (with_rule d Kept)) with (skips d). change (cutting_of (with_rule d Kept)) with (cutting_of d). rewrite Sk, W.
  change (sums (with_rule d Kept)) with (sums d). rewrite S. cbn [fst snd block_sum].
  symmetry. apply (free_steps_ok tb); [|exact O]. exact (products_inside d tb b T Mb).
Qed.
