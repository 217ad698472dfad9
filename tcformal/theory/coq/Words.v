(** Theorems from words to words: what the words of formats can be, what is encoded is decoded again, and the theorems on
    carry bits, exponents of zeros, errors, negation, agreement and integers for [Spec.dot]. *)
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

(** The numbers that words of a format stand for: significand, fraction bits and exponent. *)
Theorem decode_num f w x : format_ok f = true -> decode f w = Num x ->
  (0 <= sig x <= 2 ^ (fbits f + 1) - 1)%Z /\ frac x = fbits f /\ (least f <= exp x)%Z /\
  ((2 ^ fbits f <= sig x)%Z \/ exp x = least f).
Proof.
  intros O H. unfold format_ok in O. apply andb_prop in O. destruct O as [O1 O2].
  apply Z.leb_le in O1. apply Z.leb_le in O2. unfold decode in H.
  set (code := ((w / 2 ^ ignored f) mod 2 ^ (ebits f + fbits f))%Z) in *.
  pose proof (pow2_pos (fbits f) O1) as P. pose proof (Z.mod_pos_bound code (2 ^ fbits f) P) as M.
  assert (E : (0 <= code / 2 ^ fbits f)%Z).
  { apply Z.div_pos; auto. apply Z.mod_pos_bound. apply pow2_pos. lia. }
  assert (D : (2 ^ (fbits f + 1) = 2 * 2 ^ fbits f)%Z) by (rewrite Z.add_1_r, Z.pow_succ_r; lia).
  set (t := (code mod 2 ^ fbits f)%Z) in *. set (e := (code / 2 ^ fbits f)%Z) in *.
  assert (Fin : (if (e =? 0)%Z && has_zero f
    then Num {| neg := has_sign f && (w / 2 ^ ignored f / 2 ^ (ebits f + fbits f) =? 1)%Z;
                sig := if subnormals f then t else 0%Z; exp := (1 - bias f)%Z; frac := fbits f |}
    else Num {| neg := has_sign f && (w / 2 ^ ignored f / 2 ^ (ebits f + fbits f) =? 1)%Z;
                sig := (t + 2 ^ fbits f)%Z; exp := (e - bias f)%Z; frac := fbits f |}) = Num x).
  { destruct (special f).
    - destruct (e =? 2 ^ ebits f - 1)%Z; [destruct (t =? 0)%Z; easy|exact H].
    - destruct (code =? _)%Z; [easy|exact H].
    - destruct (_ && (code =? 0)%Z); [easy|exact H].
    - exact H. }
  clear H. clearbody e t code. unfold least. remember (1 - bias f)%Z as m1 eqn:Em.
  destruct (Z.eqb_spec e 0) as [E0|E0], (has_zero f); cbn [andb] in Fin; injection Fin as <-; cbn [sig exp frac];
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

Lemma product_fits fa fb x y wa wb : format_ok fa = true -> format_ok fb = true ->
  decode fa wa = Num x -> decode fb wb = Num y -> fits' (product_shape fa fb) (times x y).
Proof.
  intros Oa Ob Da Db. apply fits_fits'. destruct (decode_num _ _ _ Oa Da) as [A1 [A2 _]].
  destruct (decode_num _ _ _ Ob Db) as [B1 [B2 _]]. split; simpl; [|lia]. split; [nia|]. apply Z.mul_le_mono_nonneg; lia.
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
  (* |r| <= 2^(p+1), the last bit being that of the sum *)
  assert (B : (Z.abs r <= 2 ^ (p c + 1))%Z).
  { apply le_IZR. rewrite abs_IZR, <- bp_Z by lia. apply Rmult_le_reg_r with (bp ex); [apply bpow_gt_0|].
    rewrite <- (Rabs_pos_eq (bp ex)) at 1 by apply bpow_ge_0. rewrite <- Rabs_mult. unfold r, ex. rewrite round_ok.
    rewrite <- bpow_plus. apply flt_rnd_bound; auto.
    - unfold last_bit. destruct (n =? 0)%Z; lia.
    - destruct (Z.eq_dec n 0) as [->|N]; [rewrite Rmult_0_l, Rabs_R0; apply bpow_ge_0|].
      pose proof (log2_mag n u N) as M. assert (X : IZR n * bp u <> 0).
      { pose proof (bpow_gt_0 radix2 u). intros Y. apply N. apply eq_IZR. nra. }
      destruct (mag radix2 (IZR n * bp u)) as [mm Hm]. simpl in M. subst mm. specialize (Hm X).
      apply Rlt_le. eapply Rlt_le_trans; [apply Hm|]. apply bpow_le. unfold last_bit. destruct (Z.eqb_spec n 0); lia. }
  assert (F : (p c <= Z.max (l + ex) (emin c) - ex)%Z).
  { assert (emin c - p c <= ex)%Z by (unfold ex, last_bit; destruct (n =? 0)%Z; lia).
    destruct (Z_le_gt_dec (p c) l); [lia|].
    (* a number with fewer bits is subnormal *)
    assert (ex = emin c - p c)%Z; [|lia].
    destruct (Z.eq_dec ex (emin c - p c)) as [|NE]; auto. exfalso.
    assert (N : n <> 0%Z) by (intros ->; apply NE; unfold ex, last_bit; simpl; lia).
    assert (EX : ex = (Z.log2 (Z.abs n) + u - p c)%Z) by (unfold ex, last_bit in *; destruct (Z.eqb_spec n 0); lia).
    assert (G : bp (Z.log2 (Z.abs n) + u) <= Rabs (flt_rnd c (IZR n * bp u))).
    { assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). apply abs_round_ge_generic; auto with typeclass_instances.
      - apply generic_format_FLT_bpow; auto. lia.
      - pose proof (log2_mag n u N) as M. assert (X : IZR n * bp u <> 0).
        { pose proof (bpow_gt_0 radix2 u). intros Y. apply N. apply eq_IZR. nra. }
        destruct (mag radix2 (IZR n * bp u)) as [mm Hm]. simpl in M. subst mm. specialize (Hm X).
        replace (Z.log2 (Z.abs n) + u + 1 - 1)%Z with (Z.log2 (Z.abs n) + u)%Z in Hm by lia. apply Hm. }
    destruct (round_div_log2 c n u R) as [_ U]. fold ex in U. fold r in U. fold l in U.
    assert (bp (l + ex + 1) <= bp (Z.log2 (Z.abs n) + u)) by (apply bpow_le; lia). lra. }
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

(** What is known of every product of two words, and of every c, of the first block or a later one. *)
Definition is_product (fa fb : format) (v : val) : Prop := exists wa wb, v = product (decode fa wa) (decode fb wb).

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

(** Two designs give the same on a chain if they do on every block. *)
Lemma chain_ext d d' (Q : list val -> val -> Prop) (C : val -> Prop) bs :
  (forall ps c, Q ps c -> C c -> sum_values d (ps ++ [c]) = sum_values d' (ps ++ [c])) ->
  (forall ps c, C (sum_values d (ps ++ [c]))) ->
  (forall ps, In ps bs -> forall c, Q ps c) -> forall c, C c -> chain d bs c = chain d' bs c.
Proof.
  intros E K. unfold chain. induction bs as [|b r IH]; simpl; intros H c Hc; auto.
  rewrite <- (E b c); auto.
Qed.

Definition blocks_of (fa fb : format) (n : nat) (bs : list (list val)) : Prop :=
  Forall (fun ps => (length ps <= n)%nat /\ Forall (is_product fa fb) ps) bs.

Lemma cut_list_blocks {A} (P : A -> Prop) n : (0 < n)%nat -> forall k l, Forall P l ->
  Forall (fun b => (length b <= n)%nat /\ Forall P b) (cut_list k n l).
Proof.
  intros Hn. induction k; intros l H; simpl; auto. destruct l as [|a l]; auto. apply Forall_cons.
  - split. { rewrite firstn_length. lia. } rewrite Forall_forall in *. intros x Hx. apply H.
    rewrite <- (firstn_skipn n (a :: l)). apply in_or_app. auto.
  - apply IHk. rewrite Forall_forall in *. intros x Hx. apply H. rewrite <- (firstn_skipn n (a :: l)). apply in_or_app. auto.
Qed.

Lemma products_blocks fa fb n ws : (0 < n)%nat -> blocks_of fa fb n (cut_list (length ws) n (products fa fb ws)).
Proof.
  intros Hn. apply cut_list_blocks; auto. apply Forall_forall. intros v Hv. unfold products in Hv.
  apply in_map_iff in Hv. destruct Hv as [[wa wb] [<- _]]. now exists wa, wb.
Qed.

(** Terms of one block, where all are numbers. *)
Lemma block_terms_inv fa fb ps c ts : Forall (is_product fa fb) ps -> numbers (ps ++ [c]) = Some ts ->
  exists us x, ts = us ++ [x] /\ c = Num x /\ length us = length ps /\
    Forall (fun t => exists y z wa wb, decode fa wa = Num y /\ decode fb wb = Num z /\ t = times y z) us.
Proof.
  intros F H. unfold numbers in H. destruct (forallb is_num (ps ++ [c])) eqn:B; [|easy]. injection H as <-.
  rewrite forallb_app in B. apply andb_prop in B. destruct B as [B1 B2]. simpl in B2. rewrite andb_true_r in B2.
  destruct c as [x| |]; try easy. exists (map num_of ps), x. rewrite map_app. repeat split; auto. now rewrite map_length.
  clear B2. induction F as [|v r [wa [wb E]] F IH]; simpl in *; constructor.
  - apply andb_prop in B1. destruct B1 as [B1 _]. destruct v as [t| |]; try easy. symmetry in E. simpl.
    apply product_num in E. destruct E as [y [z [E1 [E2 E3]]]]. exists y, z, wa, wb. auto.
  - apply andb_prop in B1. apply IH. apply B1.
Qed.

(** ** Carry bits *)

Definition with_carry (d : sum) (k : option Z) : sum :=
  {| fraction_bits := fraction_bits d; alignment := alignment d; zero_exponent := zero_exponent d; carry_bits := k;
     normalise := normalise d; out := out d |}.

Definition plain_sum (d : sum) : bool :=
  match alignment d with RZ => true | _ => false end && negb (normalise d) && (0 <=? p (out d))%Z && (emin (out d) <=? emax (out d))%Z &&
  match fraction_bits d with Some f => (0 <=? f)%Z | None => false end.

Definition shapes (d : sum) (n : nat) (fa fb fc : format) : list shape :=
  repeat (product_shape fa fb) n ++ [number_shape (Z.max (fbits fc) (p (out d)))].

Definition carry_claim (d : sum) (n : nat) (fa fb fc : format) (k : Z) : bool :=
  plain_sum d && format_ok fa && format_ok fb && format_ok fc && (0 <=? k)%Z && (0 <? Z.of_nat n)%Z &&
  match fraction_bits d with Some f => carry_ok f k (shapes d n fa fb fc) | None => false end.

Lemma zsum_repeat t n : zsum (repeat t n) = (Z.of_nat n * t)%Z.
Proof.
  induction n as [|n IH]; [reflexivity|]. change (repeat t (S n)) with (t :: repeat t n).
  change (zsum (t :: repeat t n)) with (t + zsum (repeat t n))%Z. rewrite IH. lia.
Qed.

Lemma map_repeat' {A B} (g : A -> B) t n : map g (repeat t n) = repeat (g t) n.
Proof. induction n; simpl; congruence. Qed.

Lemma product_shape_nonneg fa fb : format_ok fa = true -> format_ok fb = true -> (0 <= fst (product_shape fa fb))%Z.
Proof.
  unfold format_ok. intros A B. apply andb_prop in A. apply andb_prop in B. unfold product_shape, fst.
  pose proof (pow2_pos (fbits fa + 1) ltac:(lia)). pose proof (pow2_pos (fbits fb + 1) ltac:(lia)).
  apply Z.mul_nonneg_nonneg; lia.
Qed.

(** With enough carry bits a dot product is as if there were no bound, for all words. *)
Theorem dot_carry d n fa fb fc fd nan k ws c :
  carry_claim d n fa fb fc k = true ->
  dot (with_carry d (Some k)) n fa fb fc fd nan ws c = dot (with_carry d None) n fa fb fc fd nan ws c.
Proof.
  intros O. unfold carry_claim in O. repeat rewrite andb_true_iff in O. destruct O as [[[[[[PS Oa] Ob] Oc] K] Hn] O].
  unfold plain_sum in PS. repeat rewrite andb_true_iff in PS. destruct PS as [[[[A Nn] P] M] F0].
  destruct (alignment d) eqn:Al; try easy. apply negb_true_iff in Nn. destruct (fraction_bits d) as [f|] eqn:F; [|easy].
  unfold dot. f_equal.
  apply chain_ext with (Q := fun ps _ => (length ps <= n)%nat /\ Forall (is_product fa fb) ps) (C := good_c d fc).
  - intros ps v [L Fp] G. unfold sum_values. destruct (numbers (ps ++ [v])) as [ts|] eqn:Nu; auto.
    destruct (block_terms_inv _ _ _ _ _ Fp Nu) as [us [x [-> [-> [Lu Fu]]]]].
    assert (T : exact_total (with_carry d (Some k)) (us ++ [x])).
    { apply carry_suffices' with f k (shapes d (length us) fa fb fc); auto; try lia.
      - unfold carry_ok in *. apply Z.ltb_lt in O. apply Z.ltb_lt. eapply Z.le_lt_trans; [|exact O].
        unfold shapes. rewrite !map_app, !zsum_app, !map_repeat', !zsum_repeat. simpl map.
        pose proof (top_nonneg f _ (product_shape_nonneg fa fb Oa Ob)). apply Z.add_le_mono_r. apply Z.mul_le_mono_nonneg_r; auto. lia.
      - unfold shapes. apply Forall2_app.
        + clear -Fu Oa Ob. induction Fu as [|t r [y [z [wa [wb [E1 [E2 ->]]]]]] Fu IH]; simpl; constructor; auto.
          eapply product_fits; eauto.
        + constructor; auto. now apply G. }
    unfold sum_numbers. rewrite T. unfold total at 1 2. simpl. reflexivity.
  - intros ps v. apply (sum_good (with_carry d (Some k)) fc); simpl; lia.
  - intros ps Hps v. pose proof (products_blocks fa fb n ws ltac:(lia)) as B. unfold blocks_of in B. rewrite Forall_forall in B. auto.
  - apply decode_good; auto. lia.
Qed.

(** ** The exponent of zeros *)

Definition zero_claim (d : sum) (n : nat) (fa fb fc : format) : bool :=
  negb (normalise d) && (0 <=? p (out d))%Z && (emin (out d) <=? emax (out d))%Z && carry_sane d && (0 <? Z.of_nat n)%Z &&
  format_ok fa && format_ok fb && format_ok fc &&
  zero_below d (Z.min (least fa + least fb) (Z.min (least fc) (emin (out d)))).

(** ** The error bound, in words of the inputs: terms are the numbers that words decode to *)

Definition term_of (fa fb : format) (w : Z * Z) : num := times (num_of (decode fa (fst w))) (num_of (decode fb (snd w))).
Definition finite_pair (fa fb : format) (w : Z * Z) : bool := is_num (decode fa (fst w)) && is_num (decode fb (snd w)).

Lemma products_finite fa fb ws : forallb (finite_pair fa fb) ws = true -> products fa fb ws = map Num (map (term_of fa fb) ws).
Proof.
  unfold products. rewrite map_map. intros H. apply map_ext_in. intros w Hw. rewrite forallb_forall in H. specialize (H w Hw).
  unfold finite_pair in H. apply andb_prop in H. unfold term_of.
  destruct (decode fa (fst w)), (decode fb (snd w)); easy.
Qed.

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

Definition error_claim (d : sum) (n : nat) : bool :=
  plain (out d) && (0 <? Z.of_nat n)%Z && match carry_bits d with None => true | _ => false end &&
  match fraction_bits d with None => false | _ => true end.

(** For all words: where the result of every block is finite (that of the last one is, else the value of d is no
    number), and E is at least the exponent of every term other than zero and of every zero that takes part:
    |d - (sum of a_k b_k + c)| <= sum over blocks of (L * 2^(E-F) + ulp of the block's result). *)
Theorem dot_error d n fa fb fc ws c x z f E :
  error_claim d n = true -> fraction_bits d = Some f ->
  forallb (finite_pair fa fb) ws = true -> decode fc c = Num x ->
  chain d (cut_list (length ws) n (products fa fb ws)) (decode fc c) = Num z ->
  exists zs, let bs := cut_list (length ws) n (map (term_of fa fb) ws) in
    run d bs x = Some zs /\ last zs x = z /\
    (below d E bs x zs ->
     Rabs (V z - (V x + Rsum (map (fun w => V (term_of fa fb w)) ws))) <= stated d E f bs zs).
Proof.
  intros O F Fi Dc H. unfold error_claim in O. repeat rewrite andb_true_iff in O. destruct O as [[[P Hn] K] _].
  rewrite products_finite, Dc, cut_list_map in H by auto.
  destruct (chain_run _ _ _ _ H) as [zs [R L]]. exists zs. cbv zeta. repeat split; auto. intros B. rewrite <- L.
  replace (Rsum (map (fun w => V (term_of fa fb w)) ws)) with
    (Rsum (map exact_sum (cut_list (length ws) n (map (term_of fa fb) ws)))).
  - apply chain_error_E; auto. clear R L B H. revert zs. generalize x as y.
    induction (cut_list (length ws) n (map (term_of fa fb) ws)) as [|b r IH]; intros y zs; simpl; auto.
    destruct zs; auto. split; auto. apply no_carry_exact. now destruct (carry_bits d).
  - unfold exact_sum. rewrite cut_list_sum, map_map; auto. lia. now rewrite map_length.
Qed.

(** ** Where the largest term loses nothing, L is one less than the number of terms *)

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

(** ** The region of agreement over one block: as a claim *)

Definition region_claim (d d' : sum) (s w : Z) : bool :=
  spread_ok d s w && spread_ok d' s w && match carry_bits d, carry_bits d' with None, None => true | _, _ => false end.


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
  assert (B : (Z.abs r <= 2 ^ (p c + 1))%Z).
  { apply le_IZR. rewrite abs_IZR, <- bp_Z by lia. apply Rmult_le_reg_r with (bp ex); [apply bpow_gt_0|].
    rewrite <- (Rabs_pos_eq (bp ex)) at 1 by apply bpow_ge_0. rewrite <- Rabs_mult. unfold r, ex. rewrite round_ok.
    rewrite <- bpow_plus. apply flt_rnd_bound; auto.
    - fold ex. lia.
    - destruct (Z.eq_dec n 0) as [->|N]; [rewrite Rmult_0_l, Rabs_R0; apply bpow_ge_0|].
      pose proof (log2_mag n u N) as G. assert (X : IZR n * bp u <> 0).
      { pose proof (bpow_gt_0 radix2 u). intros Y. apply N. apply eq_IZR. nra. }
      destruct (mag radix2 (IZR n * bp u)) as [mm Hm]. simpl in G. subst mm. specialize (Hm X).
      apply Rlt_le. eapply Rlt_le_trans; [apply Hm|]. apply bpow_le. unfold last_bit. destruct (Z.eqb_spec n 0); lia. }
  assert (F : (l < p c)%Z -> ex = (emin c - p c)%Z).
  { intros Lp. destruct (Z.eq_dec ex (emin c - p c)) as [|NE]; auto. exfalso.
    assert (N : n <> 0%Z) by (intros ->; apply NE; unfold ex, last_bit; simpl; lia).
    assert (EX : ex = (Z.log2 (Z.abs n) + u - p c)%Z) by (unfold ex, last_bit in *; destruct (Z.eqb_spec n 0); lia).
    assert (G : bp (Z.log2 (Z.abs n) + u) <= Rabs (flt_rnd c (IZR n * bp u))).
    { assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). apply abs_round_ge_generic; auto with typeclass_instances.
      - apply generic_format_FLT_bpow; auto. lia.
      - pose proof (log2_mag n u N) as G. assert (X : IZR n * bp u <> 0).
        { pose proof (bpow_gt_0 radix2 u). intros Y. apply N. apply eq_IZR. nra. }
        destruct (mag radix2 (IZR n * bp u)) as [mm Hm]. simpl in G. subst mm. specialize (Hm X).
        replace (Z.log2 (Z.abs n) + u + 1 - 1)%Z with (Z.log2 (Z.abs n) + u)%Z in Hm by lia. apply Hm. }
    destruct (round_div_log2 c n u R) as [_ U]. fold ex in U. fold r in U. fold l in U.
    assert (bp (l + ex + 1) <= bp (Z.log2 (Z.abs n) + u)) by (apply bpow_le; lia). lra. }
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

Lemma chain_convert d bs c z : bs <> [] -> chain d bs c = Num z -> exists s n u, convert (out d) s n u = Num z.
Proof.
  intros N H. destruct (exists_last N) as [bs' [b ->]]. unfold chain in H. rewrite fold_left_app in H. simpl in H.
  unfold sum_values in H. destruct (numbers _); [|exfalso; now apply (special_not_num _ _ H)].
  unfold sum_numbers in H. eauto.
Qed.

(** The word that a unit gives stands for the number that the theorems are about. *)
Theorem dot_word d n fa fb fc fd nan ws c z : holds fd (out d) = true -> ws <> [] ->
  chain d (cut_list (length ws) n (products fa fb ws)) (decode fc c) = Num z ->
  exists y, decode fd (dot d n fa fb fc fd nan ws c) = Num y /\ V y = V z.
Proof.
  intros O N H. unfold dot. rewrite H.
  assert (B : cut_list (length ws) n (products fa fb ws) <> []).
  { destruct ws as [|w r]; [easy|]. intros Q. simpl in Q. discriminate Q. }
  destruct (chain_convert _ _ _ _ B H) as [s [m [u C]]].
  destruct (encode_decode _ _ _ _ _ _ nan O C) as [y [Y [Vy _]]]. eauto.
Qed.

(** ** From words to words: Ozaki's slices *)

Lemma V_times x y : V (times x y) = V x * V y.
Proof.
  unfold V, lsb, signed, times; cbn [neg sig exp frac].
  replace (exp x + exp y - (frac x + frac y))%Z with ((exp x - frac x) + (exp y - frac y))%Z by lia. rewrite bpow_plus.
  destruct (neg x), (neg y); simpl xorb; cbv iota; rewrite ?opp_IZR, mult_IZR; ring.
Qed.

Lemma normal_times x y : normal x -> normal y -> normal (times x y).
Proof.
  intros Nx Ny Z. unfold is_zero, times in Z. cbn [sig] in Z. apply Z.eqb_neq in Z.
  rewrite V_times, Rabs_mult. unfold times. cbn [exp]. rewrite bpow_plus.
  apply Rmult_le_compat; try apply bpow_ge_0; [apply Nx|apply Ny]; unfold is_zero; apply Z.eqb_neq; intros H; rewrite H in Z; lia.
Qed.

(** A word that stands for zero or for a normal number. *)
Definition normal_word (f : format) (w : Z) : bool :=
  match decode f w with Num x => is_zero x || (2 ^ frac x <=? sig x)%Z | _ => false end.

Lemma normal_word_ok f w : format_ok f = true -> normal_word f w = true -> exists x, decode f w = Num x /\ normal x.
Proof.
  intros O H. unfold normal_word in H. destruct (decode f w) as [x| |] eqn:D; try easy. exists x. split; auto.
  intros Z. rewrite Z in H. simpl in H. apply Z.leb_le in H. destruct (decode_num _ _ _ O D) as [_ [F _]].
  assert (0 <= frac x)%Z by (unfold format_ok in O; apply andb_prop in O; lia).
  assert (A : Rabs (V x) = IZR (sig x) * bp (lsb x)).
  { unfold V, signed. rewrite Rabs_mult, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. f_equal. rewrite <- abs_IZR. f_equal.
    pose proof (pow2_pos (frac x) ltac:(lia)). destruct (neg x); lia. }
  rewrite A. apply Rle_trans with (bp (frac x) * bp (lsb x)).
  - rewrite <- bpow_plus. apply bpow_le. unfold lsb. lia.
  - apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite bp_Z by lia. now apply IZR_le.
Qed.

Definition word_value (f : format) (w : Z) : R := V (num_of (decode f w)).

(** A dot product of integers whose magnitudes, c's among them, add up to 2^B at most is exact, from words to words. *)
Theorem dot_integers d n fa fb fc fd nan ws c B :
  integers_ok d B = true -> holds fd (out d) = true -> (0 < n)%nat -> ws <> [] ->
  format_ok fa = true -> format_ok fb = true -> format_ok fc = true ->
  forallb (fun w => normal_word fa (fst w) && normal_word fb (snd w)) ws = true -> normal_word fc c = true ->
  Forall (fun w => integer (word_value fa (fst w) * word_value fb (snd w))) ws -> integer (word_value fc c) ->
  Rabs (word_value fc c) + Rsum (map (fun w => Rabs (word_value fa (fst w) * word_value fb (snd w))) ws) <= bp B ->
  exists y, decode fd (dot d n fa fb fc fd nan ws c) = Num y /\
    V y = word_value fc c + Rsum (map (fun w => word_value fa (fst w) * word_value fb (snd w)) ws).
Proof.
  intros O Ho Hn NE Oa Ob Oc Nw Nc Iw Ic M. destruct (normal_word_ok _ _ Oc Nc) as [x [Dc Nx]].
  unfold word_value in Ic, M |- *. rewrite Dc in *. simpl num_of in *.
  assert (Tv : forall w, V (term_of fa fb w) = V (num_of (decode fa (fst w))) * V (num_of (decode fb (snd w)))).
  { intros w. apply V_times. }
  assert (Fin : forallb (finite_pair fa fb) ws = true).
  { apply forallb_forall. intros w Hw. rewrite forallb_forall in Nw. specialize (Nw w Hw). apply andb_prop in Nw.
    destruct Nw as [N1 N2]. unfold finite_pair. destruct (normal_word_ok _ _ Oa N1) as [y [-> _]].
    destruct (normal_word_ok _ _ Ob N2) as [z [-> _]]. reflexivity. }
  set (ts := map (term_of fa fb) ws).
  assert (P : Forall (fun t => integer (V t) /\ normal t) ts).
  { apply Forall_forall. intros t Ht. apply in_map_iff in Ht. destruct Ht as [w [<- Hw]]. split.
    - rewrite Tv. rewrite Forall_forall in Iw. now apply Iw.
    - rewrite forallb_forall in Nw. specialize (Nw w Hw). apply andb_prop in Nw. destruct Nw as [N1 N2].
      destruct (normal_word_ok _ _ Oa N1) as [y [Dy Ny]]. destruct (normal_word_ok _ _ Ob N2) as [z [Dz Nz]].
      unfold term_of. rewrite Dy, Dz. simpl. now apply normal_times. }
  set (bs := cut_list (length ws) n ts).
  assert (Pb : Forall (fun b => (length b <= n)%nat /\ Forall (fun t => integer (V t) /\ normal t) b) bs) by now apply cut_list_blocks.
  destruct (integer_chain d B bs O x) as [z [Hz Vz]]; auto.
  - eapply Forall_impl; [|exact Pb]. intros b [_ H]. eapply Forall_impl; [|exact H]. now intros t [? _].
  - eapply Forall_impl; [|exact Pb]. intros b [_ H]. eapply Forall_impl; [|exact H]. now intros t [_ ?].
  - replace (Rsum (map magnitude bs)) with (Rsum (map (fun w => Rabs (V (num_of (decode fa (fst w))) * V (num_of (decode fb (snd w))))) ws)); auto.
    unfold magnitude, bs. rewrite (cut_list_sum (fun t => Rabs (V t))); auto.
    + unfold ts. rewrite map_map. apply Rsum_ext. intros w _. now rewrite Tv.
    + unfold ts. now rewrite map_length.
  - unfold bs, ts in Hz. rewrite <- cut_list_map, <- products_finite, <- Dc in Hz by auto.
    destruct (dot_word d n fa fb fc fd nan ws c z Ho NE Hz) as [y [Dy Vy]]. exists y. split; auto. rewrite Vy, Vz. f_equal.
    unfold bs, exact_sum. rewrite (cut_list_sum V); auto.
    + unfold ts. rewrite map_map. apply Rsum_ext. intros w _. apply Tv.
    + unfold ts. now rewrite map_length.
Qed.
