(** Integer roundings are Flocq's roundings of reals; cutting a term rounds to a fixed point (FIX), and a conversion to a
    floating point with subnormals (FLT). *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core Round_odd.
From TC Require Import Spec.
Import ListNotations.
Open Scope R_scope.

Notation bp := (bpow radix2).

(** ** Rounding of integers = Flocq's rounding of reals *)

(** A word of random bits as a fraction of a unit, and a magnitude to which it is added before it is cut. *)
Definition word_share (bits : positive) (word : Z) : R := IZR (word mod 2 ^ Z.pos bits) * bp (- Z.pos bits).
Definition random_rnd (share x : R) : Z := if Rlt_bool x 0 then (- Zfloor (- x + share))%Z else Zfloor (x + share).

Definition rnd (m : mode) : R -> Z :=
  match m with
  | RNE => ZnearestE | RNA => ZnearestA | RZ => Ztrunc | RD => Zfloor | RU => Zceil | RO => Zrnd_odd
  | SR n w => random_rnd (word_share n w)
  end.

Lemma bp_Z k : (0 <= k)%Z -> bp k = IZR (2 ^ k).
Proof. intros H. now rewrite <- (IZR_Zpower radix2). Qed.

Lemma word_share_range n w : 0 <= word_share n w < 1.
Proof.
  unfold word_share. pose proof (bpow_gt_0 radix2 (- Z.pos n)) as P.
  destruct (Z.mod_pos_bound w (2 ^ Z.pos n)) as [L H]; [apply Z.pow_pos_nonneg; lia|]. apply IZR_le in L. apply IZR_lt in H.
  split; [nra|]. replace 1 with (IZR (2 ^ Z.pos n) * bp (- Z.pos n)); [nra|].
  rewrite <- bp_Z, <- bpow_plus by lia. now replace (Z.pos n + - Z.pos n)%Z with 0%Z by lia.
Qed.

Lemma floor_share h k : 0 <= h < 1 -> Zfloor (IZR k + h) = k.
Proof. intros H. apply Zfloor_imp. rewrite plus_IZR. lra. Qed.

Lemma valid_random h : 0 <= h < 1 -> Valid_rnd (random_rnd h).
Proof.
  intros H. assert (P : forall x, 0 <= x -> (0 <= Zfloor (x + h))%Z) by (intros x X; apply Zfloor_lub; simpl; lra). split.
  - intros x y L. unfold random_rnd. destruct (Rlt_bool_spec x 0) as [X|X], (Rlt_bool_spec y 0) as [Y|Y]; try lra.
    + apply Z.opp_le_mono. rewrite !Z.opp_involutive. apply Zfloor_le. lra.
    + pose proof (P (- x) ltac:(lra)). pose proof (P y Y). lia.
    + apply Zfloor_le. lra.
  - intros k. unfold random_rnd. rewrite <- opp_IZR, !floor_share by auto. destruct (Rlt_bool _ _); lia.
Qed.

Global Instance valid_rnd_mode m : Valid_rnd (rnd m).
Proof. destruct m; simpl; auto with typeclass_instances. apply valid_random, word_share_range. Qed.

Lemma deciding_some m : (1 <= deciding_bits m)%Z.
Proof. destruct m; simpl; lia. Qed.

(** The word carries where the bits that are cut off are at least what it lacks of a unit. *)
Lemma random_carry_at n w rest k : (0 <= k)%Z ->
  random_carry n w rest k = ((2 ^ Z.pos n - w mod 2 ^ Z.pos n) * 2 ^ k <=? rest * 2 ^ Z.pos n)%Z.
Proof.
  intros K. unfold random_carry. rewrite Z.shiftl_mul_pow2, Z.shiftr_div_pow2 by lia.
  assert (D : (0 < 2 ^ k)%Z) by (apply Z.pow_pos_nonneg; lia). set (d := (2 ^ k)%Z) in *.
  set (x := (rest * 2 ^ Z.pos n)%Z). set (t := (2 ^ Z.pos n - w mod 2 ^ Z.pos n)%Z).
  pose proof (Z.div_mod x d ltac:(lia)). pose proof (Z.mod_pos_bound x d D). apply eq_true_iff_eq. rewrite !Z.leb_le.
  split; intros L.
  - assert (t <= x / d)%Z by lia. nia.
  - assert (t <= x / d)%Z; [|lia]. apply Z.div_le_lower_bound; lia.
Qed.

(** [Spec.round_div] in products, quotients and remainders. *)
Lemma round_div_unfold m x k : round_div m x k =
  (if k <=? 0 then x * 2 ^ (- k) else
   if x mod 2 ^ k =? 0 then x / 2 ^ k else
   match m with
   | RD => x / 2 ^ k
   | RU => x / 2 ^ k + 1
   | RZ => if x <? 0 then x / 2 ^ k + 1 else x / 2 ^ k
   | RO => if Z.even (x / 2 ^ k) then x / 2 ^ k + 1 else x / 2 ^ k
   | RNE => match 2 * (x mod 2 ^ k) ?= 2 ^ k with
            | Lt => x / 2 ^ k | Gt => x / 2 ^ k + 1
            | Eq => if Z.even (x / 2 ^ k) then x / 2 ^ k else x / 2 ^ k + 1 end
   | RNA => match 2 * (x mod 2 ^ k) ?= 2 ^ k with
            | Lt => x / 2 ^ k | Gt => x / 2 ^ k + 1
            | Eq => if x <? 0 then x / 2 ^ k else x / 2 ^ k + 1 end
   | SR n w => if x <? 0 then if random_carry n w (2 ^ k - x mod 2 ^ k) k then x / 2 ^ k else x / 2 ^ k + 1
               else if random_carry n w (x mod 2 ^ k) k then x / 2 ^ k + 1 else x / 2 ^ k
   end)%Z.
Proof.
  unfold round_div. destruct (Z.leb_spec k 0).
  - now rewrite Z.shiftl_mul_pow2 by lia.
  - rewrite Z.shiftr_div_pow2, !Z.shiftl_mul_pow2, Z.mul_1_l by lia.
    replace (x - x / 2 ^ k * 2 ^ k)%Z with (x mod 2 ^ k)%Z; auto.
    rewrite Z.mod_eq; [lia|]. apply Z.pow_nonzero; lia.
Qed.

Lemma round_div_ok m x k : round_div m x k = rnd m (IZR x * bp (- k)).
Proof.
  rewrite round_div_unfold. destruct (Z.leb_spec k 0) as [Hk|Hk].
  - rewrite bp_Z by lia. rewrite <- mult_IZR. now rewrite Zrnd_IZR by auto with typeclass_instances.
  - set (d := (2 ^ k)%Z). assert (Hd : (0 < d)%Z) by (apply Z.pow_pos_nonneg; lia).
    assert (HdR : 0 < IZR d) by now apply IZR_lt.
    assert (Hy : IZR x * bp (- k) = IZR x / IZR d).
    { rewrite bpow_opp, bp_Z by lia. reflexivity. }
    rewrite Hy. set (y := IZR x / IZR d).
    set (q := (x / d)%Z). set (r := (x mod d)%Z).
    assert (Hx : x = (d * q + r)%Z) by (apply Z.div_mod; lia).
    assert (Hr : (0 <= r < d)%Z) by (apply Z.mod_pos_bound; lia).
    assert (Hyq : y = IZR q + IZR r / IZR d).
    { unfold y. rewrite Hx at 1. rewrite plus_IZR, mult_IZR. field. lra. }
    assert (Hf : Zfloor y = q) by (apply Zfloor_div; lia).
    destruct (Z.eqb_spec r 0) as [Hr0|Hr0].
    + assert (Hyq' : y = IZR q) by (rewrite Hyq, Hr0; field; lra).
      rewrite Hyq'. now rewrite Zrnd_IZR by auto with typeclass_instances.
    + assert (Hr1 : 0 < IZR r / IZR d < 1).
      { split. apply Rdiv_lt_0_compat; [apply IZR_lt; lia | lra].
        apply Rmult_lt_reg_r with (IZR d); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
        rewrite Rmult_1_r, Rmult_1_l. apply IZR_lt. lia. }
      assert (Hc : Zceil y = (q + 1)%Z).
      { rewrite Zceil_floor_neq; rewrite Hf; [reflexivity|]. lra. }
      assert (Hneg : (x <? 0)%Z = (q <? 0)%Z).
      { destruct (Z.ltb_spec x 0); destruct (Z.ltb_spec q 0); nia || reflexivity. }
      assert (Hcmp : forall P Q S : Z, match (2 * r ?= d)%Z with Lt => P | Gt => Q | Eq => S end =
                       match Rcompare (y - IZR q) (/ 2) with Lt => P | Gt => Q | Eq => S end).
      { intros. replace (y - IZR q) with (IZR r / IZR d) by lra.
        assert (Hrr : IZR r / IZR d * (2 * IZR d) = IZR (2 * r)) by (rewrite mult_IZR; field; lra).
        destruct (Z.compare_spec (2 * r) d) as [H|H|H].
        - rewrite Rcompare_Eq; [reflexivity|]. apply Rmult_eq_reg_r with (2 * IZR d); [|lra].
          rewrite Hrr, H. field.
        - rewrite Rcompare_Lt; [reflexivity|]. apply Rmult_lt_reg_r with (2 * IZR d); [lra|].
          rewrite Hrr. apply IZR_lt in H. lra.
        - rewrite Rcompare_Gt; [reflexivity|]. apply Rmult_lt_reg_r with (2 * IZR d); [lra|].
          rewrite Hrr. apply IZR_lt in H. lra. }
      destruct m; simpl rnd.
      * (* RNE *) rewrite Hcmp. unfold Znearest. rewrite Hf, Hc.
        destruct (Rcompare _ _); try reflexivity. now destruct (Z.even q).
      * (* RNA *) rewrite Hcmp. unfold Znearest. rewrite Hf, Hc.
        destruct (Rcompare _ _); try reflexivity. rewrite Hneg.
        destruct (Z.ltb_spec q 0); destruct (Z.leb_spec 0 q); reflexivity || lia.
      * (* RZ *) unfold Ztrunc. rewrite Hf, Hc. rewrite Hneg.
        destruct (Z.ltb_spec q 0) as [H|H].
        -- rewrite Rlt_bool_true; [reflexivity|]. assert (IZR q <= -1) by (apply IZR_le; lia). lra.
        -- rewrite Rlt_bool_false; [reflexivity|]. assert (0 <= IZR q) by (apply IZR_le; lia). lra.
      * now rewrite Hf.
      * now rewrite Hc.
      * unfold Zrnd_odd. destruct (Req_EM_T _ _) as [H|H].
        -- exfalso. rewrite Hf in H. lra.
        -- rewrite Hf, Hc. now destruct (Z.even q).
      * (* SR *) assert (Up : forall j s (c : bool), (0 < s < d)%Z -> c = random_carry bits word s k ->
          Zfloor (IZR j + IZR s / IZR d + word_share bits word) = if c then (j + 1)%Z else j).
        { intros j s c Hs ->. rewrite random_carry_at by lia. fold d. unfold word_share.
          set (e := (2 ^ Z.pos bits)%Z). assert (He : (0 < e)%Z) by (apply Z.pow_pos_nonneg; lia).
          assert (HeR : 0 < IZR e) by now apply IZR_lt. rewrite bpow_opp, bp_Z by lia. fold e. set (w := (word mod e)%Z).
          assert (Hw : (0 <= w < e)%Z) by now apply Z.mod_pos_bound.
          replace (IZR j + IZR s / IZR d + IZR w * / IZR e) with (IZR j + IZR (s * e + w * d) / IZR (d * e))
            by (rewrite plus_IZR, !mult_IZR; field; lra).
          assert (HdeR : 0 < IZR (d * e)) by (apply IZR_lt; nia).
          assert (B : forall z, IZR z <= IZR (s * e + w * d) / IZR (d * e) <-> (z * (d * e) <= s * e + w * d)%Z).
          { intros z. split; intros L.
            - apply le_IZR. rewrite mult_IZR. apply Rmult_le_compat_r with (r := IZR (d * e)) in L; [|lra].
              unfold Rdiv in L. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in L by lra. exact L.
            - apply Rmult_le_reg_r with (IZR (d * e)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
              rewrite <- mult_IZR. now apply IZR_le. }
          pose proof (B 0%Z) as B0. pose proof (B 1%Z) as B1. pose proof (B 2%Z) as B2.
          set (y' := IZR (s * e + w * d) / IZR (d * e)) in *. destruct (Z.leb_spec ((e - w) * d) (s * e)) as [L|L]; apply Zfloor_imp; rewrite ?plus_IZR.
          - assert (A1 : 1 <= y') by (apply B1; nia).
            assert (A2 : ~ 2 <= y') by (rewrite B2; nia). lra.
          - assert (A1 : 0 <= y') by (apply B0; nia).
            assert (A2 : ~ 1 <= y') by (rewrite B1; nia). lra. }
        unfold random_rnd. destruct (Z.ltb_spec x 0) as [H|H].
        -- assert (q <= -1)%Z by nia. assert (IZR q <= -1) by (apply IZR_le; lia). rewrite Rlt_bool_true by lra.
           replace (- y) with (IZR (- q - 1) + IZR (d - r) / IZR d) by (rewrite Hyq, minus_IZR, opp_IZR, minus_IZR; field; lra).
           rewrite (Up (- q - 1)%Z (d - r)%Z _ ltac:(lia) eq_refl). destruct (random_carry _ _ _ _); lia.
        -- assert (0 <= q)%Z by nia. assert (0 <= IZR q) by (apply IZR_le; lia). rewrite Rlt_bool_false by lra.
           rewrite Hyq, (Up q r _ ltac:(lia) eq_refl). now destruct (random_carry _ _ _ _).
Qed.

(** ** The value of a number; cutting a term = rounding to a fixed point *)

Definition V (x : num) : R := IZR (signed x) * bp (lsb x).
Definition fix_rnd m u := round radix2 (FIX_exp u) (rnd m).

Lemma cut_ok m u x : IZR (cut m u x) * bp u = fix_rnd m u (V x).
Proof.
  unfold cut, fix_rnd, round, F2R, scaled_mantissa, cexp, FIX_exp; simpl. rewrite round_div_ok.
  do 3 f_equal. unfold V. rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
Qed.

Definition Rsum (l : list R) : R := fold_right Rplus 0 l.

Lemma Rsum_app l1 l2 : Rsum (l1 ++ l2) = Rsum l1 + Rsum l2.
Proof. induction l1; simpl; lra. Qed.

Lemma zsum_Rsum u l : IZR (zsum l) * bp u = Rsum (map (fun n => IZR n * bp u) l).
Proof. induction l; simpl. lra. rewrite plus_IZR, Rmult_plus_distr_r, IHl. reflexivity. Qed.

Lemma counts_ok d ts : let u := unit_of d ts in
  IZR (zsum (counts d ts)) * bp u = Rsum (map (fun x => fix_rnd (alignment d) u (V x)) ts).
Proof.
  intros u. rewrite zsum_Rsum. unfold counts. rewrite map_map. f_equal. apply map_ext. intros x. apply cut_ok.
Qed.

(** ** The conversion = Flocq's rounding to FLT *)

Definition flt c := FLT_exp (emin c - p c) (p c + 1).
Definition flt_rnd c := round radix2 (flt c) (rnd (rho c)).

Lemma log2_mag n u : (n <> 0)%Z -> (mag radix2 (IZR n * bp u) : Z) = (Z.log2 (Z.abs n) + u + 1)%Z.
Proof.
  intros Hn. apply mag_unique. rewrite Rabs_mult, <- abs_IZR, (Rabs_pos_eq (bp u)) by apply bpow_ge_0.
  destruct (Z.log2_spec (Z.abs n)) as [H1 H2]; [lia|].
  assert (0 <= Z.log2 (Z.abs n))%Z by apply Z.log2_nonneg.
  replace (Z.log2 (Z.abs n) + u + 1 - 1)%Z with (Z.log2 (Z.abs n) + u)%Z by lia.
  replace (Z.log2 (Z.abs n) + u + 1)%Z with (Z.succ (Z.log2 (Z.abs n)) + u)%Z by lia.
  rewrite 2!bpow_plus. split.
  - apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite bp_Z by lia. now apply IZR_le.
  - apply Rmult_lt_compat_r; [apply bpow_gt_0|]. rewrite bp_Z by lia. now apply IZR_lt.
Qed.

Lemma count_log2 n u : (n <> 0)%Z -> bp (Z.log2 (Z.abs n) + u) <= Rabs (IZR n * bp u) < bp (Z.log2 (Z.abs n) + u + 1).
Proof.
  intros N. pose proof (log2_mag n u N) as M. destruct (mag radix2 (IZR n * bp u)) as [m Hm]. simpl in M. subst m.
  replace (Z.log2 (Z.abs n) + u + 1 - 1)%Z with (Z.log2 (Z.abs n) + u)%Z in Hm by lia. apply Hm.
  apply Rmult_integral_contrapositive_currified; [now apply not_0_IZR|]. pose proof (bpow_gt_0 radix2 u). lra.
Qed.

Lemma last_bit_ok c n u : (n <> 0)%Z -> last_bit c n u = cexp radix2 (flt c) (IZR n * bp u).
Proof.
  intros Hn. unfold last_bit, cexp, flt, FLT_exp. destruct (Z.eqb_spec n 0); [easy|].
  rewrite log2_mag by easy. lia.
Qed.

Lemma round_ok c n u : let ex := last_bit c n u in
  IZR (round_div (rho c) n (ex - u)) * bp ex = flt_rnd c (IZR n * bp u).
Proof.
  intros ex. destruct (Z.eq_dec n 0) as [->|Hn].
  - unfold flt_rnd. rewrite Rmult_0_l, round_0 by auto with typeclass_instances.
    rewrite round_div_ok, Rmult_0_l. now rewrite Zrnd_IZR, Rmult_0_l by auto with typeclass_instances.
  - unfold flt_rnd, round, F2R, scaled_mantissa; simpl. unfold ex. rewrite <- last_bit_ok by easy.
    rewrite round_div_ok. do 3 f_equal. rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
Qed.

Open Scope Z_scope.
