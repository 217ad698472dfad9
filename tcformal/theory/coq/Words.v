(** What the words of formats can be, what is encoded is decoded again, and what is known of a unit's sums from words. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core Round_odd.
From TC Require Import Spec Rounding Order Error Carry Negation Chains Integers Monotone Relative.
Import ListNotations.
Open Scope R_scope.

(** ** From words to terms: what a format's words can be *)

Definition format_ok (f : format) : bool := (0 <=? fbits f)%Z && (0 <=? ebits f)%Z.
Definition least (f : format) : Z := if has_zero f then (1 - bias f)%Z else (- bias f)%Z.

Lemma pow2_pos k : (0 <= k)%Z -> (0 < 2 ^ k)%Z.
Proof. intros. apply Z.pow_pos_nonneg; lia. Qed.

(** A word that stands for a number: zero or subnormal, or with a leading bit. *)
Lemma decode_finite f w x : decode f w = Num x -> let code := ((w / 2 ^ ignored f) mod 2 ^ (ebits f + fbits f))%Z in
  let n := has_sign f && (w / 2 ^ ignored f / 2 ^ (ebits f + fbits f) =? 1)%Z in let e := (code / 2 ^ fbits f)%Z in let t := (code mod 2 ^ fbits f)%Z in
  x = if (e =? 0)%Z && has_zero f then {| neg := n; sig := if subnormals f then t else 0%Z; exp := (1 - bias f)%Z; frac := fbits f |}
    else {| neg := n; sig := (t + 2 ^ fbits f)%Z; exp := (e - bias f)%Z; frac := fbits f |}.
Proof.
  intros H code n e t. unfold decode in H. fold code in H. fold e in H. fold t in H. fold n in H.
  assert (F : (if (e =? 0)%Z && has_zero f
    then Num {| neg := n; sig := if subnormals f then t else 0%Z; exp := (1 - bias f)%Z; frac := fbits f |}
    else Num {| neg := n; sig := (t + 2 ^ fbits f)%Z; exp := (e - bias f)%Z; frac := fbits f |}) = Num x).
  { destruct (special f).
    - destruct (e =? 2 ^ ebits f - 1)%Z; [destruct (t =? 0)%Z; easy|exact H].
    - destruct (code =? _)%Z; [easy|exact H].
    - destruct (_ && (code =? 0)%Z); [easy|exact H].
    - exact H. }
  destruct ((e =? 0)%Z && has_zero f); now injection F.
Qed.

(** The numbers that words of a format stand for: significand, fraction bits and exponent. *)
Theorem decode_num f w x : format_ok f = true -> decode f w = Num x ->
  (0 <= sig x <= 2 ^ (fbits f + 1) - 1)%Z /\ frac x = fbits f /\ (least f <= exp x)%Z /\
  ((2 ^ fbits f <= sig x)%Z \/ exp x = least f).
Proof.
  intros O H. unfold format_ok in O. apply andb_prop in O. destruct O as [O1 O2].
  apply Z.leb_le in O1. apply Z.leb_le in O2. pose proof (decode_finite f w x H) as Fin. cbv zeta in Fin.
  set (code := ((w / 2 ^ ignored f) mod 2 ^ (ebits f + fbits f))%Z) in *.
  pose proof (pow2_pos (fbits f) O1) as P. pose proof (Z.mod_pos_bound code (2 ^ fbits f) P) as M.
  assert (E : (0 <= code / 2 ^ fbits f)%Z).
  { apply Z.div_pos; auto. apply Z.mod_pos_bound. apply pow2_pos. lia. }
  assert (D : (2 ^ (fbits f + 1) = 2 * 2 ^ fbits f)%Z) by (rewrite Z.add_1_r, Z.pow_succ_r; lia).
  set (t := (code mod 2 ^ fbits f)%Z) in *. set (e := (code / 2 ^ fbits f)%Z) in *.
  clear H. clearbody e t code. unfold least. remember (1 - bias f)%Z as m1 eqn:Em.
  destruct (Z.eqb_spec e 0) as [E0|E0], (has_zero f); cbn [andb] in Fin; subst x; cbn [sig exp frac];
    try destruct (subnormals f); (split; [lia|split; [reflexivity|split; [lia|]]]); auto; left; lia.
Qed.

(** ** Values bounded by shapes; products; results *)

Definition fits' (s : shape) (x : num) : Prop := (0 <= sig x)%Z /\ IZR (sig x) * bp (- frac x) <= IZR (fst s) * bp (- snd s).

Lemma fits_fits' s x : fits s x -> fits' s x.
Proof.
  intros [[H0 H1] H2]. split; auto. rewrite H2. apply Rmult_le_compat_r; [apply bpow_ge_0|]. now apply IZR_le.
Qed.

Lemma count_le' f e s x : fits' s x -> (exp x <= e)%Z -> (Z.abs (cut RZ (e - f) x) <= top f s)%Z.
Proof.
  intros [H0 H1] He. unfold cut, top, lsb.
  assert (A : Z.abs (round_div RZ (signed x) (e - f - (exp x - frac x))) = round_div RZ (sig x) (e - f - (exp x - frac x))).
  { assert (0 <= round_div RZ (sig x) (e - f - (exp x - frac x)))%Z.
    { rewrite <- (round_div_0 RZ 0). apply round_div_le. rewrite Rmult_0_l. apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0]. }
    unfold signed. destruct (neg x); [rewrite round_div_RZ_opp|]; lia. }
  rewrite A. apply round_div_le.
  replace (- (e - f - (exp x - frac x)))%Z with (- frac x + (exp x - e + f))%Z by lia.
  replace (- (snd s - f))%Z with (- snd s + f)%Z by lia. rewrite !bpow_plus, <- !Rmult_assoc.
  assert (0 <= IZR (sig x) * bp (- frac x)) by (apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0]).
  assert (bp (exp x - e) <= 1) by (change 1 with (bp 0); apply bpow_le; lia).
  pose proof (bpow_ge_0 radix2 (exp x - e)). pose proof (bpow_gt_0 radix2 f).
  apply Rmult_le_compat_r; [lra|]. nra.
Qed.

Lemma top_nonneg' f s x : fits' s x -> (0 <= top f s)%Z.
Proof.
  intros [H0 H1]. apply top_nonneg. apply le_IZR. pose proof (bpow_gt_0 radix2 (- snd s)).
  assert (0 <= IZR (sig x) * bp (- frac x)) by (apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0]). nra.
Qed.

(** The same of terms that are bounded by their values. *)
Theorem carry_suffices' d f k ss ts :
  fraction_bits d = Some f -> carry_bits d = Some k -> alignment d = RZ -> normalise d = false -> (0 <= f)%Z -> (0 <= k)%Z ->
  carry_ok f k ss = true -> Forall2 fits' ss ts -> exact_total d ts.
Proof.
  intros F K A N Hf Hk O T. unfold exact_total, total. rewrite F, K. apply wrap_small; [lia|].
  replace (1 + (f + 1 + k) - 1)%Z with (f + 1 + k)%Z by lia. unfold carry_ok in O. apply Z.ltb_lt in O.
  cut (Z.abs (zsum (counts d ts)) <= zsum (map (top f) ss))%Z; [lia|].
  unfold counts, unit_of. rewrite F, A. destruct (largest d ts) as [e|] eqn:L.
  - assert (B : Forall (fun x => is_zero x = true \/ (exp x <= e)%Z) ts).
    { apply Forall_forall. intros x Hx. pose proof (largest_in d ts x Hx) as I. rewrite L in I.
      unfold term_exponent in I. rewrite N in I. destruct (is_zero x); simpl in I; auto. }
    clear L O. induction T as [|s x ss ts Fx T IH]; simpl; [lia|]. inversion B; subst.
    specialize (IH H2). unfold zsum in *. simpl.
    assert (Z.abs (cut RZ (e - f) x) <= top f s)%Z; [|lia].
    destruct H1 as [H1|H1]; [|now apply count_le']. rewrite cut_zero by easy. now apply (top_nonneg' f s x).
  - rewrite zeros_count. rewrite zsum_zeros. simpl.
    + clear -T. induction T; simpl; [lia|]. unfold zsum in *; simpl. pose proof (top_nonneg' f x y H). lia.
    + apply forallb_forall. intros x Hx. now apply (largest_none d ts).
Qed.

Lemma number_shape_le a b : (0 <= a <= b)%Z -> IZR (fst (number_shape a)) * bp (- snd (number_shape a)) <= IZR (fst (number_shape b)) * bp (- snd (number_shape b)).
Proof.
  intros H. unfold number_shape, fst, snd. rewrite !minus_IZR, <- !bp_Z by lia. rewrite !Rmult_minus_distr_r, <- !bpow_plus, !Rmult_1_l.
  replace (a + 1 + - a)%Z with 1%Z by lia. replace (b + 1 + - b)%Z with 1%Z by lia.
  assert (bp (- b) <= bp (- a)) by (apply bpow_le; lia). lra.
Qed.

Lemma decode_fits f w x m : format_ok f = true -> (fbits f <= m)%Z -> decode f w = Num x -> fits' (number_shape m) x.
Proof.
  intros O L D. destruct (decode_num _ _ _ O D) as [A1 [A2 _]].
  assert (F : fits' (number_shape (fbits f)) x). { apply fits_fits'. split; auto. }
  destruct F as [F0 F1]. split; auto. eapply Rle_trans; [exact F1|]. apply number_shape_le.
  unfold format_ok in O. apply andb_prop in O. lia.
Qed.

(** A count that is rounded has p + 1 bits at most, or is the power of two above them; fewer than p only below the normal range. *)
Lemma rounded_count c n u : (0 <= p c)%Z -> let r := round_div (rho c) n (last_bit c n u - u) in
  (Z.abs r <= 2 ^ (p c + 1))%Z /\ (r <> 0%Z -> (Z.log2 (Z.abs r) < p c)%Z -> last_bit c n u = (emin c - p c)%Z).
Proof.
  intros P r. set (ex := last_bit c n u) in *. assert (EL : (emin c - p c <= ex)%Z) by (unfold ex, last_bit; destruct (n =? 0)%Z; lia). split.
  - apply le_IZR. rewrite abs_IZR, <- bp_Z by lia. apply Rmult_le_reg_r with (bp ex); [apply bpow_gt_0|].
    rewrite <- (Rabs_pos_eq (bp ex)) at 1 by apply bpow_ge_0. rewrite <- Rabs_mult. unfold r, ex. rewrite round_ok.
    rewrite <- bpow_plus. apply flt_rnd_bound; auto; [fold ex; lia|].
    destruct (Z.eq_dec n 0) as [->|N]; [rewrite Rmult_0_l, Rabs_R0; apply bpow_ge_0|].
    apply Rlt_le. eapply Rlt_le_trans; [now apply count_log2|]. apply bpow_le. unfold last_bit. destruct (Z.eqb_spec n 0); lia.
  - intros R Lp. destruct (Z.eq_dec ex (emin c - p c)) as [|NE]; auto. exfalso.
    assert (N : n <> 0%Z) by (intros ->; apply NE; unfold ex, last_bit; simpl; lia).
    assert (EX : ex = (Z.log2 (Z.abs n) + u - p c)%Z) by (unfold ex, last_bit in *; destruct (Z.eqb_spec n 0); lia).
    assert (G : bp (Z.log2 (Z.abs n) + u) <= Rabs (flt_rnd c (IZR n * bp u))).
    { assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). apply abs_round_ge_generic; auto with typeclass_instances; [|now apply count_log2].
      apply generic_format_FLT_bpow; auto. lia. }
    destruct (round_div_log2 c n u R) as [_ U]. fold ex in U. fold r in U.
    assert (bp (Z.log2 (Z.abs r) + ex + 1) <= bp (Z.log2 (Z.abs n) + u)) by (apply bpow_le; lia). lra.
Qed.

(** A result of a conversion is below 2 at its exponent. *)
Lemma convert_fits c s n u z m : (0 <= p c)%Z -> (p c <= m)%Z -> convert c s n u = Num z -> fits' (number_shape m) z.
Proof.
  intros P L H. assert (G : fits' (number_shape (p c)) z).
  2: { destruct G as [F0 F1]. split; auto. eapply Rle_trans; [exact F1|]. apply number_shape_le. lia. }
  assert (T : bp (p c + 1) * bp (- p c) = 2) by (rewrite <- bpow_plus; replace (p c + 1 + - p c)%Z with 1%Z by lia; reflexivity).
  assert (S : IZR (fst (number_shape (p c))) * bp (- snd (number_shape (p c))) = 2 - bp (- p c)).
  { unfold number_shape, fst, snd. rewrite minus_IZR, <- bp_Z by lia. lra. }
  assert (Q : bp (- p c) <= 1) by (change 1 with (bp 0); apply bpow_le; lia). pose proof (bpow_gt_0 radix2 (- p c)) as Q0.
  unfold convert in H. set (r := round_div _ _ _) in *. set (ex := last_bit c n u) in *.
  destruct ((r =? 0)%Z || _) eqn:Z0; [injection H as <-; unfold fits'; cbn [sig frac]; split; [lia|]|].
  { rewrite Rmult_0_l. rewrite S. lra. }
  destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + ex)) as [O|O].
  { cbv zeta in H. match type of H with (if ?b then _ else _) = _ => destruct b end; [easy|]. injection H as <-. unfold fits'. cbn [sig frac]. split.
    - pose proof (pow2_pos (p c + 1)). lia.
    - apply Rle_refl. }
  injection H as <-. unfold fits'. cbn [sig frac]. split; [lia|]. rewrite S.
  assert (R : r <> 0%Z) by (intros E; rewrite E in Z0; easy).
  set (l := Z.log2 (Z.abs r)) in *. destruct (Z.log2_spec (Z.abs r)) as [L1 L2]; [lia|]. fold l in L1, L2.
  assert (L0 : (0 <= l)%Z) by apply Z.log2_nonneg.
  destruct (rounded_count c n u P) as [B F]. fold ex in B, F. fold r in B, F. specialize (F R). fold l in F.
  assert (EL : (emin c - p c <= ex)%Z) by (unfold ex, last_bit; destruct (n =? 0)%Z; lia).
  destruct (Z.eq_dec (Z.abs r) (2 ^ (p c + 1))) as [E|E].
  - assert (l = p c + 1)%Z. { unfold l. rewrite E. apply Z.log2_pow2. lia. }
    assert (FF : (p c + 1 <= Z.max (l + ex) (emin c) - ex)%Z) by lia.
    apply Rle_trans with (bp (p c + 1) * bp (- (p c + 1))).
    + rewrite E, <- bp_Z by lia. apply Rmult_le_compat_l; [apply bpow_ge_0|]. apply bpow_le. lia.
    + rewrite <- bpow_plus. replace (p c + 1 + - (p c + 1))%Z with 0%Z by lia. simpl. lra.
  - apply Rle_trans with (IZR (2 ^ (p c + 1) - 1) * bp (- p c)).
    + apply Rmult_le_compat; [apply IZR_le; lia|apply bpow_ge_0|apply IZR_le; lia|]. apply bpow_le. lia.
    + rewrite minus_IZR, <- bp_Z by lia. lra.
Qed.

(** * Claims about units: words in, a word out; side conditions are booleans of the parameters *)

Definition good_c (d : sum) (fc : format) (v : val) : Prop :=
  forall x, v = Num x -> fits' (number_shape (Z.max (fbits fc) (p (out d)))) x /\ (Z.min (least fc) (emin (out d)) <= exp x)%Z.

Lemma product_num a b x : product a b = Num x -> exists y z, a = Num y /\ b = Num z /\ x = times y z.
Proof.
  destruct a as [y| |], b as [z| |]; simpl; try easy; try (destruct (is_zero _); easy).
  intros H. injection H as <-. eauto.
Qed.

Lemma decode_good d f w : format_ok f = true -> (0 <= p (out d))%Z -> good_c d f (decode f w).
Proof.
  intros O P x H. split. apply decode_fits with f w; auto. lia. destruct (decode_num _ _ _ O H) as [_ [_ [L _]]]. lia.
Qed.

Lemma convert_exp_min c s n u z : convert c s n u = Num z -> (0 <= p c)%Z -> (Z.min (emin c) (emax c) <= exp z)%Z.
Proof.
  unfold convert. destruct (_ || _). { intros H; injection H as <-; simpl; lia. }
  destruct (_ <? _)%Z; [destruct (is_infinite c n); [easy|]|]; intros H; injection H as <-; simpl; lia.
Qed.

Lemma sum_good d fc vs : (0 <= p (out d))%Z -> (emin (out d) <= emax (out d))%Z -> good_c d fc (sum_values d vs).
Proof.
  intros P M x H. unfold sum_values in H. destruct (numbers vs) as [ts|]; [|exfalso; now apply (special_not_num vs x)].
  unfold sum_numbers in H. split. eapply convert_fits; eauto. lia. pose proof (convert_exp_min _ _ _ _ _ H P). lia.
Qed.

Lemma cut_list_blocks {A} (P : A -> Prop) n : (0 < n)%nat -> forall k l, Forall P l ->
  Forall (fun b => (length b <= n)%nat /\ Forall P b) (cut_list k n l).
Proof.
  intros Hn. induction k; intros l H; simpl; auto. destruct l as [|a l]; auto. apply Forall_cons.
  - split. { rewrite firstn_length. lia. } rewrite Forall_forall in *. intros x Hx. apply H.
    rewrite <- (firstn_skipn n (a :: l)). apply in_or_app. auto.
  - apply IHk. rewrite Forall_forall in *. intros x Hx. apply H. rewrite <- (firstn_skipn n (a :: l)). apply in_or_app. auto.
Qed.

(** ** Carry bits *)

Definition with_carry (d : sum) (k : option Z) : sum :=
  {| fraction_bits := fraction_bits d; alignment := alignment d; zero_exponent := zero_exponent d; carry_bits := k;
     normalise := normalise d; out := out d |}.

Definition plain_sum (d : sum) : bool :=
  match alignment d with RZ => true | _ => false end && negb (normalise d) && (0 <=? p (out d))%Z && (emin (out d) <=? emax (out d))%Z &&
  match fraction_bits d with Some f => (0 <=? f)%Z | None => false end.

Lemma zsum_repeat t n : zsum (repeat t n) = (Z.of_nat n * t)%Z.
Proof.
  induction n as [|n IH]; [reflexivity|]. change (repeat t (S n)) with (t :: repeat t n).
  change (zsum (t :: repeat t n)) with (t + zsum (repeat t n))%Z. rewrite IH. lia.
Qed.

Lemma map_repeat' {A B} (g : A -> B) t n : map g (repeat t n) = repeat (g t) n.
Proof. induction n; simpl; congruence. Qed.

(** ** The error bound, in words of the inputs: terms are the numbers that words decode to *)

Definition finite_pair (fa fb : format) (w : Z * Z) : bool := is_num (decode fa (fst w)) && is_num (decode fb (snd w)).

Lemma cut_list_map {A B} (g : A -> B) n : forall k l, cut_list k n (map g l) = map (map g) (cut_list k n l).
Proof.
  induction k; intros l; simpl; auto. destruct l; auto. change (map g (a :: l)) with (g a :: map g l). cbv iota.
  change (g a :: map g l) with (map g (a :: l)). rewrite firstn_map, skipn_map, IHk. reflexivity.
Qed.

Lemma cut_list_sum {A} (g : A -> R) n : (0 < n)%nat -> forall k l, (length l <= k)%nat ->
  Rsum (map (fun b => Rsum (map g b)) (cut_list k n l)) = Rsum (map g l).
Proof.
  intros Hn. induction k; intros l L; destruct l as [|a l]; simpl in L; try lia; try reflexivity.
  change (cut_list (S k) n (a :: l)) with (firstn n (a :: l) :: cut_list k n (skipn n (a :: l))).
  cbn [map Rsum fold_right]. fold (Rsum (map (fun b => Rsum (map g b)) (cut_list k n (skipn n (a :: l))))).
  rewrite IHk. 2: { rewrite skipn_length. cbn [length]. lia. }
  rewrite <- Rsum_app, <- map_app, firstn_skipn. reflexivity.
Qed.

(** ** Negation of a whole chain, special values included *)

Lemma opposite_numbers vs ws : Forall2 opposite_val vs ws ->
  match numbers vs, numbers ws with Some ts, Some us => Forall2 opposite ts us | None, None => True | _, _ => False end.
Proof.
  unfold numbers. intros H.
  assert (B : forallb is_num vs = forallb is_num ws).
  { induction H as [|v w vs ws Hv H IH]; simpl; auto. rewrite IH. f_equal. destruct v, w; easy. }
  rewrite <- B. destruct (forallb is_num vs) eqn:Q; auto. clear B.
  induction H as [|v w vs ws Hv H IH]; simpl in *; constructor; apply andb_prop in Q; destruct Q as [Q1 Q2]; auto.
  destruct v, w; easy.
Qed.

Lemma existsb_2 {A B} (R : A -> B -> Prop) (q : A -> bool) (q' : B -> bool) l l' :
  Forall2 R l l' -> (forall x y, R x y -> q x = q' y) -> existsb q l = existsb q' l'.
Proof. induction 1; simpl; intros Q; auto. rewrite IHForall2; auto. now rewrite (Q _ _ H). Qed.

Lemma existsb_3 (q q' r : val -> bool) l : (forall v, q v || q' v || r v = negb (is_num v)) -> forallb is_num l = false ->
  existsb q l || existsb q' l || existsb r l = true.
Proof.
  intros H. induction l as [|v l IH]; simpl; [easy|]. intros B. specialize (H v). destruct (is_num v); simpl in *.
  - rewrite <- (IH B). destruct (q v), (q' v), (r v); try easy.
  - destruct (q v), (q' v), (r v); simpl in *; try easy; now rewrite ?orb_true_r.
Qed.

Lemma opposite_special vs ws : Forall2 opposite_val vs ws -> numbers vs = None -> opposite_val (special_sum vs) (special_sum ws).
Proof.
  intros H N. assert (B : forallb is_num vs = false) by (unfold numbers in N; destruct (forallb is_num vs); easy).
  unfold special_sum.
  set (nan := fun v => match v with NaN => true | _ => false end).
  set (pos := fun v => match v with Inf false => true | _ => false end).
  set (min := fun v => match v with Inf true => true | _ => false end).
  assert (E1 : existsb nan ws = existsb nan vs).
  { symmetry. apply existsb_2 with (R := opposite_val); auto. intros [?|?|] [?|?|]; easy. }
  assert (E2 : existsb pos ws = existsb min vs).
  { symmetry. apply existsb_2 with (R := opposite_val); auto. intros [?|[]|] [?|[]|]; simpl; easy. }
  assert (E3 : existsb min ws = existsb pos vs).
  { symmetry. apply existsb_2 with (R := opposite_val); auto. intros [?|[]|] [?|[]|]; simpl; easy. }
  pose proof (existsb_3 nan pos min vs ltac:(intros [?|[]|]; reflexivity) B) as S.
  rewrite E1, E2, E3. destruct (existsb nan vs), (existsb pos vs), (existsb min vs); simpl in *; easy.
Qed.

Definition negation_claim (d : sum) : bool :=
  symmetric (alignment d) && symmetric (rho (out d)) && match carry_bits d with None => true | _ => false end.

(** One sum of the opposite values is the opposite, infinities and NaNs among them. *)
Theorem sum_negation d vs ws : negation_claim d = true -> Forall2 opposite_val vs ws ->
  opposite_val (sum_values d vs) (sum_values d ws).
Proof.
  intros O H. unfold negation_claim in O. repeat rewrite andb_true_iff in O. destruct O as [[A R] K].
  assert (C : carry_bits d = None) by now destruct (carry_bits d).
  unfold sum_values. pose proof (opposite_numbers _ _ H) as N.
  destruct (numbers vs) as [ts|] eqn:E, (numbers ws) as [us|] eqn:E'; try easy.
  - apply negation; auto using no_carry_exact.
  - now apply opposite_special.
Qed.

(** ** Words of results: what is encoded is decoded again *)

(** What a conversion's numbers look like. *)
Lemma convert_shape c s n u z : (0 <= p c)%Z -> (emin c <= emax c)%Z -> convert c s n u = Num z ->
  (emin c <= exp z <= emax c)%Z /\
  ((frac z = p c /\ (0 <= sig z < 2 ^ (p c + 1))%Z /\ (exp z = emin c \/ 2 ^ p c <= sig z)%Z) \/
   (frac z = p c + 1 /\ sig z = 2 ^ (p c + 1))%Z).
Proof.
  intros P M H. unfold convert in H. set (r := round_div _ _ _) in *. set (ex := last_bit c n u) in *.
  pose proof (pow2_pos (p c) P) as P2. pose proof (pow2_pos (p c + 1) ltac:(lia)) as P3.
  assert (D : (2 ^ (p c + 1) = 2 * 2 ^ p c)%Z) by (rewrite Z.add_1_r, Z.pow_succ_r; lia).
  destruct ((r =? 0)%Z || _) eqn:Z0; [injection H as <-; cbn [sig frac exp]; split; [lia|]; left; repeat split; auto; lia|].
  destruct (Z.ltb_spec (emax c) (Z.log2 (Z.abs r) + ex)) as [O|O].
  { cbv zeta in H. match type of H with (if ?b then _ else _) = _ => destruct b end; [easy|].
    injection H as <-. cbn [sig frac exp]. split; [lia|]. left. repeat split; auto; lia. }
  injection H as <-. cbn [sig frac exp].
  assert (R : r <> 0%Z) by (intros E; rewrite E in Z0; easy).
  set (l := Z.log2 (Z.abs r)) in *. destruct (Z.log2_spec (Z.abs r)) as [L1 L2]; [lia|]. fold l in L1, L2.
  assert (L0 : (0 <= l)%Z) by apply Z.log2_nonneg. split; [lia|].
  assert (EL : (emin c - p c <= ex)%Z) by (unfold ex, last_bit; destruct (n =? 0)%Z; lia).
  destruct (rounded_count c n u P) as [B F]. fold ex in B, F. fold r in B, F. specialize (F R). fold l in F.
  destruct (Z.eq_dec (Z.abs r) (2 ^ (p c + 1))) as [E|E].
  - right. assert (l = p c + 1)%Z. { unfold l. rewrite E. apply Z.log2_pow2. lia. } split; [lia|auto].
  - left. assert (LP : (l <= p c)%Z). { assert (l < p c + 1)%Z; [|lia]. apply Z.pow_lt_mono_r_iff with 2%Z; lia. }
    destruct (Z_lt_ge_dec l (p c)) as [h|h].
    + specialize (F h). split; [lia|]. split; [lia|]. left. lia.
    + assert (l = p c) by lia. split; [lia|]. split; [lia|]. right. rewrite <- H. exact L1.
Qed.

Definition holds (fd : format) (c : conversion) : bool :=
  match special fd with IEEE => true | _ => false end && has_sign fd && has_zero fd && subnormals fd && (ignored fd =? 0)%Z &&
  (0 <=? p c)%Z && (p c <=? fbits fd)%Z && (emin c =? 1 - bias fd)%Z && (emax c =? 2 ^ ebits fd - 2 - bias fd)%Z && (2 <=? ebits fd)%Z.

(** The fraction of a number, counted in the format's last bits. *)
Lemma fraction_ok c s n u z fd : holds fd c = true -> convert c s n u = Num z ->
  let t := round_div RZ (sig z) (frac z - fbits fd) in
  (0 <= t < 2 * 2 ^ fbits fd)%Z /\ (exp z = emin c \/ 2 ^ fbits fd <= t)%Z /\ IZR t * bp (- fbits fd) = IZR (sig z) * bp (- frac z).
Proof.
  intros O H t. unfold holds in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[[[[[_ _] _] _] _] P] Pf] Em] Ex] Eb].
  apply Z.leb_le in P, Pf, Eb. apply Z.eqb_eq in Em, Ex.
  assert (EE : (4 <= 2 ^ ebits fd)%Z) by (change 4%Z with (2 ^ 2)%Z; apply Z.pow_le_mono_r; lia).
  destruct (convert_shape _ _ _ _ _ P ltac:(lia) H) as [_ [[F [S L]]|[F S]]].
  - assert (T : t = (sig z * 2 ^ (fbits fd - p c))%Z).
    { unfold t. rewrite round_div_unfold, F. destruct (Z.leb_spec (p c - fbits fd) 0); [|lia]. do 2 f_equal. lia. }
    assert (D : (2 ^ fbits fd = 2 ^ p c * 2 ^ (fbits fd - p c))%Z) by (rewrite <- Z.pow_add_r; [f_equal|..]; lia).
    assert (D1 : (2 ^ (p c + 1) = 2 * 2 ^ p c)%Z) by (rewrite Z.add_1_r, Z.pow_succ_r; lia).
    pose proof (pow2_pos (fbits fd - p c) ltac:(lia)). rewrite T, D. split; [nia|]. split; [destruct L; [auto|right; nia]|].
    rewrite F, mult_IZR, <- (bp_Z (fbits fd - p c)), Rmult_assoc, <- bpow_plus by lia. do 2 f_equal. lia.
  - assert (T : t = (2 ^ fbits fd)%Z).
    { unfold t. rewrite F, S. destruct (Z_le_gt_dec (p c + 1) (fbits fd)).
      - rewrite round_div_unfold. destruct (Z.leb_spec (p c + 1 - fbits fd) 0); [|lia]. rewrite <- Z.pow_add_r by lia. f_equal. lia.
      - replace (p c + 1 - fbits fd)%Z with 1%Z by lia. replace (p c + 1)%Z with (fbits fd + 1)%Z by lia.
        rewrite round_div_unfold. destruct (Z.leb_spec 1 0); [lia|].
        rewrite Z.pow_add_r, Z.mod_mul, Z.div_mul by lia. reflexivity. }
    pose proof (pow2_pos (fbits fd) ltac:(lia)). rewrite T. split; [lia|]. split; [right; lia|].
    rewrite F, S, <- !bp_Z, <- !bpow_plus by lia. f_equal. lia.
Qed.

(** The word of a result stands for the result. *)
Theorem encode_decode c s n u z fd nan : holds fd c = true -> convert c s n u = Num z ->
  exists y, decode fd (encode fd nan (Num z)) = Num y /\ V y = V z /\ neg y = neg z /\ exp y = exp z.
Proof.
  intros O H. destruct (fraction_ok _ _ _ _ _ _ O H) as [T [L Q]]. unfold holds in O. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[Sp Hs] Hz] Sb] Ig] P] Pf] Em] Ex] Eb].
  apply Z.leb_le in P, Pf, Eb. apply Z.eqb_eq in Em, Ex, Ig. destruct (special fd) eqn:Spec; try easy.
  assert (EE : (4 <= 2 ^ ebits fd)%Z) by (change 4%Z with (2 ^ 2)%Z; apply Z.pow_le_mono_r; lia).
  destruct (convert_shape _ _ _ _ _ P ltac:(lia) H) as [Er _]. clear H.
  set (t := round_div RZ (sig z) (frac z - fbits fd)) in *. set (fb := fbits fd) in *.
  pose proof (pow2_pos fb ltac:(lia)) as P2. set (b := (2 ^ fb)%Z) in *.
  set (field := if (t <? b)%Z then 0%Z else (exp z + bias fd)%Z). set (tf := if (t <? b)%Z then t else (t - b)%Z).
  set (w := (((if neg z then 2 ^ ebits fd else 0) + field) * b + tf)%Z).
  assert (W : encode fd nan (Num z) = w).
  { unfold encode. fold fb. fold t. fold b. rewrite Ig. unfold w, field, tf. destruct (t <? b)%Z; simpl; lia. }
  rewrite W.
  assert (Fr : (0 <= field <= 2 ^ ebits fd - 2)%Z) by (unfold field; destruct (Z.ltb_spec t b); lia).
  assert (Tr : (0 <= tf < b)%Z) by (unfold tf; destruct (Z.ltb_spec t b); lia).
  assert (C : (2 ^ (ebits fd + fb) = 2 ^ ebits fd * b)%Z) by (unfold b; rewrite <- Z.pow_add_r; [f_equal|..]; lia).
  set (E2 := (2 ^ ebits fd)%Z) in *.
  assert (Cr : (0 <= field * b + tf < E2 * b)%Z) by nia.
  assert (D1 : (w / (E2 * b) = if neg z then 1 else 0)%Z).
  { symmetry. apply Z.div_unique with (field * b + tf)%Z; [left; auto|]. unfold w. destruct (neg z); ring. }
  assert (D2 : (w mod (E2 * b) = field * b + tf)%Z).
  { rewrite Z.mod_eq, D1 by nia. unfold w. destruct (neg z); ring. }
  assert (D3 : ((field * b + tf) / b = field)%Z) by (symmetry; apply Z.div_unique with tf; [left; auto|ring]).
  assert (D4 : ((field * b + tf) mod b = tf)%Z) by (rewrite Z.mod_eq, D3 by lia; ring).
  unfold decode. rewrite Ig, Z.pow_0_r, Z.div_1_r. fold fb. rewrite C, D1, D2. fold b. rewrite D3, D4, Spec, Hs, Hz, Sb. fold E2.
  destruct (Z.eqb_spec field (E2 - 1)); [lia|]. cbv zeta. rewrite andb_true_r.
  assert (Sg : (true && ((if neg z then 1 else 0) =? 1)%Z) = neg z) by now destruct (neg z). rewrite Sg.
  assert (Val : forall sg e, IZR sg * bp (- fb) = IZR (sig z) * bp (- frac z) -> e = exp z ->
            IZR (if neg z then (- sg)%Z else sg) * bp (e - fb) = V z).
  { intros sg e Hsg ->. unfold V, signed, lsb. replace (exp z - fb)%Z with (- fb + exp z)%Z by lia.
    replace (exp z - frac z)%Z with (- frac z + exp z)%Z by lia. rewrite !bpow_plus, <- !Rmult_assoc.
    destruct (neg z); rewrite ?opp_IZR, ?Ropp_mult_distr_l_reverse; now rewrite Hsg. }
  unfold field, tf in *. destruct (Z.ltb_spec t b) as [h|h].
  - eexists. split; [reflexivity|]. cbn [neg exp]. assert (exp z = emin c) by (destruct L; auto; lia).
    split; [|split; [auto|lia]]. unfold V at 1, signed, lsb. cbn [neg sig exp frac]. apply Val; auto. lia.
  - destruct (Z.eqb_spec (exp z + bias fd) 0); [lia|]. eexists. split; [reflexivity|]. cbn [neg exp].
    split; [|split; [auto|lia]]. unfold V at 1, signed, lsb. cbn [neg sig exp frac]. apply Val; [|lia].
    replace (t - b + b)%Z with t by ring. auto.
Qed.

(** ** From words to words: Ozaki's slices *)

Lemma V_times x y : V (times x y) = V x * V y.
Proof.
  unfold V, lsb, signed, times; cbn [neg sig exp frac].
  replace (exp x + exp y - (frac x + frac y))%Z with ((exp x - frac x) + (exp y - frac y))%Z by lia. rewrite bpow_plus.
  destruct (neg x), (neg y); simpl xorb; cbv iota; rewrite ?opp_IZR, mult_IZR; ring.
Qed.
