(** Negated terms give the negated sum, under roundings that are symmetric. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core Round_odd.
From TC Require Import Spec Rounding Order Error Carry.
Import ListNotations.
Open Scope R_scope.

(** ** Negation *)

Definition symmetric (m : mode) : bool := match m with RD | RU => false | _ => true end.

Lemma rnd_opp m x : symmetric m = true -> rnd m (- x) = (- rnd m x)%Z.
Proof.
  destruct m; try easy; intros _; cbv beta iota delta [rnd].
  - rewrite Znearest_opp. f_equal. unfold Znearest. destruct (Rcompare _ _); auto.
    rewrite Z.even_opp, Z.even_add. now destruct (Z.even (Zfloor x)).
  - rewrite Znearest_opp. f_equal. unfold Znearest. destruct (Rcompare _ _); auto.
    set (n := Zfloor x). destruct (Z.leb_spec 0 (- (n + 1))), (Z.leb_spec 0 n); simpl; auto; lia.
  - apply Ztrunc_opp.
  - unfold Zrnd_odd. destruct (Req_EM_T x (IZR (Zfloor x))) as [H|H].
    + rewrite H, <- opp_IZR, !Zfloor_IZR. destruct (Req_EM_T _ _); [|easy]. reflexivity.
    + assert (F : Zfloor (- x) = (- (Zfloor x + 1))%Z).
      { rewrite <- Zceil_floor_neq by auto. unfold Zceil. lia. }
      assert (C : Zceil (- x) = (- Zfloor x)%Z) by (unfold Zceil; now rewrite Ropp_involutive).
      destruct (Req_EM_T (- x) _) as [H'|H'].
      * exfalso. apply H. rewrite F in H'. rewrite opp_IZR in H'. apply Ropp_eq_compat in H'. rewrite !Ropp_involutive in H'.
        rewrite H' at 2. now rewrite Zfloor_IZR.
      * rewrite F, C, (Zceil_floor_neq x) by auto. rewrite Z.even_opp, Z.even_add. simpl.
        destruct (Z.even (Zfloor x)); simpl; lia.
  - unfold random_rnd. rewrite Ropp_involutive. pose proof (word_share_range bits word) as S. set (h := word_share bits word) in *.
    destruct (Rlt_bool_spec (- x) 0), (Rlt_bool_spec x 0); try lra; [lia|lia|].
    replace x with (IZR 0) by (simpl; lra). rewrite <- opp_IZR. simpl Z.opp. now rewrite floor_share.
Qed.

Lemma round_div_opp m x k : symmetric m = true -> round_div m (- x) k = (- round_div m x k)%Z.
Proof. intros H. rewrite !round_div_ok, opp_IZR, Ropp_mult_distr_l_reverse. now apply rnd_opp. Qed.

(** Of opposite values, whatever the signs of zeros. *)
Definition opposite (x y : num) : Prop := signed y = (- signed x)%Z /\ exp y = exp x /\ frac y = frac x.

Definition opposite_val (v w : val) : Prop :=
  match v, w with Num x, Num y => opposite x y | Inf s, Inf t => t = negb s | NaN, NaN => True | _, _ => False end.

Lemma opposite_zero x y : opposite x y -> is_zero y = is_zero x.
Proof.
  intros [H _]. unfold is_zero, signed in *. destruct (neg x), (neg y), (Z.eqb_spec (sig x) 0), (Z.eqb_spec (sig y) 0); auto; lia.
Qed.

Lemma opposite_abs x y : opposite x y -> Z.abs (sig y) = Z.abs (sig x).
Proof. intros [H _]. unfold signed in *. destruct (neg x), (neg y); lia. Qed.

Lemma opposite_exponent d x y : opposite x y -> term_exponent d y = term_exponent d x.
Proof.
  intros H. unfold term_exponent. rewrite (opposite_zero _ _ H). unfold own_exponent, lsb.
  rewrite (opposite_abs _ _ H). destruct H as [_ [-> ->]]. reflexivity.
Qed.

Lemma opposite_unit d ts us : Forall2 opposite ts us -> unit_of d us = unit_of d ts.
Proof.
  intros H. unfold unit_of, largest. replace (map (term_exponent d) us) with (map (term_exponent d) ts).
  replace (least_lsb us) with (least_lsb ts); auto.
  - unfold least_lsb. destruct H as [|x y ts us Hx H]; auto. unfold lsb at 1 3. destruct Hx as [_ [-> ->]]. f_equal.
    induction H as [|x' y' ts us [_ [E1 E2]] H IH]; simpl; auto. unfold lsb at 1 3. now rewrite E1, E2, IH.
  - induction H; simpl; auto. now rewrite IHForall2, (opposite_exponent d _ _ H).
Qed.

Lemma opposite_counts d ts us : symmetric (alignment d) = true -> Forall2 opposite ts us ->
  counts d us = map Z.opp (counts d ts).
Proof.
  intros S H. unfold counts. rewrite (opposite_unit d _ _ H). generalize (unit_of d ts) as u. intros u.
  induction H as [|x y ts us [E1 [E2 E3]] H IH]; simpl; auto. rewrite IH. f_equal.
  unfold cut, lsb. rewrite E1, E2, E3. now apply round_div_opp.
Qed.

Lemma zsum_opp l : zsum (map Z.opp l) = (- zsum l)%Z.
Proof. unfold zsum. induction l; simpl; lia. Qed.

Lemma is_tiny_opp c n u : symmetric (rho c) = true -> is_tiny c (- n) u = is_tiny c n u.
Proof. intros S. unfold is_tiny. now rewrite Z.abs_opp, round_div_opp, Z.abs_opp by easy. Qed.

Lemma convert_opp c s s' n u : symmetric (rho c) = true -> opposite_val (convert c s n u) (convert c s' (- n) u).
Proof.
  intros S. unfold convert. replace (last_bit c (- n) u) with (last_bit c n u).
  2: { unfold last_bit. rewrite Z.abs_opp. destruct (Z.eqb_spec n 0), (Z.eqb_spec (- n) 0); auto; lia. }
  rewrite round_div_opp, is_tiny_opp by easy. set (ex := last_bit c n u). set (r := round_div (rho c) n (ex - u)).
  rewrite Z.abs_opp. replace (- r =? 0)%Z with (r =? 0)%Z by (destruct (Z.eqb_spec r 0), (Z.eqb_spec (- r) 0); auto; lia).
  destruct ((r =? 0)%Z || _) eqn:Z0.
  - unfold opposite_val, opposite, signed; simpl. destruct (_ && s), (_ && s'); auto.
  - destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + ex)).
    + assert (N : n <> 0%Z).
      { intros ->. unfold r in Z0. rewrite round_div_0 in Z0. easy. }
      assert (G : ((- n <? 0) = negb (n <? 0))%Z) by (destruct (Z.ltb_spec n 0), (Z.ltb_spec (- n) 0); auto; lia).
      unfold is_infinite. destruct (overflow c); simpl; auto; destruct (rho c) eqn:M; try easy; simpl; auto;
        unfold opposite, signed; simpl; rewrite G; destruct (n <? 0)%Z; simpl; auto with zarith.
    + assert (r <> 0%Z) by (intros E; rewrite E in Z0; easy).
      unfold opposite_val, opposite, signed; simpl.
      destruct (Z.ltb_spec r 0), (Z.ltb_spec (- r) 0); split; auto; lia.
Qed.

(** The sum of the opposite terms is the opposite sum. *)
Theorem negation d ts us :
  symmetric (alignment d) = true -> symmetric (rho (out d)) = true -> exact_total d ts -> exact_total d us ->
  Forall2 opposite ts us -> opposite_val (sum_numbers d ts) (sum_numbers d us).
Proof.
  intros Sa Sr T U H. unfold sum_numbers. rewrite T, U, (opposite_unit d _ _ H), (opposite_counts d _ _ Sa H), zsum_opp.
  now apply convert_opp.
Qed.
