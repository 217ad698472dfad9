(** Factors with leading zeros, or normalised before they are multiplied: where every sum sees the values of its terms alone,
    because nothing is cut off, or because terms are aligned with the exponents of their leading bits, no input tells. *)
From Coq Require Import ZArith List Bool Reals Psatz Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Mirror.
Import ListNotations.
Open Scope Z_scope.

(** * The same number with zeros before its leading bit, and with fewer of them *)

Definition finer (x y : num) : Prop :=
  neg y = neg x /\ exists k, 0 <= k /\ sig y = sig x * 2 ^ k /\ lsb y = lsb x - k.

Definition finer_val (v w : val) : Prop :=
  match v, w with Num x, Num y => finer x y | Inf s, Inf t => s = t | NaN, NaN => True | _, _ => False end.

Lemma finer_refl x : finer x x.
Proof. split; auto. exists 0. rewrite Z.pow_0_r. lia. Qed.

Lemma finer_val_refl v : finer_val v v.
Proof. destruct v; cbn; auto using finer_refl. Qed.

Lemma finer_signed x y : finer x y -> exists k, 0 <= k /\ signed y = signed x * 2 ^ k /\ lsb y = lsb x - k.
Proof. intros [N [k [K [S L]]]]. exists k. unfold signed. rewrite N, S. repeat split; auto. destruct (neg x); lia. Qed.

Lemma pow_pos k : 0 <= k -> 0 < 2 ^ k.
Proof. intros. apply Z.pow_pos_nonneg; lia. Qed.

Lemma finer_zero x y : finer x y -> is_zero y = is_zero x.
Proof.
  intros [_ [k [K [S _]]]]. unfold is_zero. rewrite S. pose proof (pow_pos k K).
  destruct (Z.eqb_spec (sig x) 0) as [->|]; [reflexivity|]. apply Z.eqb_neq. nia.
Qed.

Lemma log2_shift n k : n <> 0 -> 0 <= k -> Z.log2 (Z.abs (n * 2 ^ k)) = Z.log2 (Z.abs n) + k.
Proof.
  intros N K. rewrite Z.abs_mul, (Z.abs_eq (2 ^ k)) by (pose proof (pow_pos k K); lia). rewrite Z.log2_mul_pow2; lia.
Qed.

Lemma finer_exponent x y : finer x y -> is_zero x = false -> own_exponent y = own_exponent x.
Proof.
  intros [_ [k [K [S L]]]] Z. unfold is_zero in Z. apply Z.eqb_neq in Z. unfold own_exponent. rewrite S, L, log2_shift by auto. lia.
Qed.

(** * Roundings see values *)

Lemma round_shift m n k e : 0 <= k -> round_div m (n * 2 ^ k) (e + k) = round_div m n e.
Proof.
  intros K. rewrite !round_div_ok, mult_IZR, <- (bp_Z k) by auto. f_equal. rewrite Rmult_assoc, <- bpow_plus. do 2 f_equal. lia.
Qed.

Lemma cut_finer m u x y : finer x y -> cut m u y = cut m u x.
Proof.
  intros H. destruct (finer_signed _ _ H) as [k [K [S L]]]. unfold cut. rewrite S, L.
  replace (u - (lsb x - k)) with (u - lsb x + k) by lia. now apply round_shift.
Qed.

Lemma shift_zero n k : 0 <= k -> (n * 2 ^ k =? 0) = (n =? 0).
Proof. intros K. pose proof (pow_pos k K). destruct (Z.eqb_spec n 0) as [->|]; [reflexivity|]. apply Z.eqb_neq. nia. Qed.

Lemma shift_negative n k : 0 <= k -> (n * 2 ^ k <? 0) = (n <? 0).
Proof. intros K. pose proof (pow_pos k K). destruct (Z.ltb_spec n 0); [apply Z.ltb_lt|apply Z.ltb_ge]; nia. Qed.

Lemma shift_positive n k : 0 <= k -> (0 <? n * 2 ^ k) = (0 <? n).
Proof. intros K. pose proof (pow_pos k K). destruct (Z.ltb_spec 0 n); [apply Z.ltb_lt|apply Z.ltb_ge]; nia. Qed.

Lemma last_bit_shift c n u k : 0 <= k -> last_bit c (n * 2 ^ k) (u - k) = last_bit c n u.
Proof.
  intros K. unfold last_bit. rewrite shift_zero by auto. destruct (Z.eqb_spec n 0); auto. rewrite log2_shift by auto. f_equal. lia.
Qed.

Lemma convert_shift c s n u k : 0 <= k -> convert c s (n * 2 ^ k) (u - k) = convert c s n u.
Proof.
  intros K. destruct (Z.eq_dec n 0) as [->|N].
  - rewrite Z.mul_0_l. unfold convert, last_bit. cbn [Z.eqb]. rewrite !round_div_ok, !Rmult_0_l. now rewrite !Zrnd_IZR by auto with typeclass_instances.
  - unfold convert, is_tiny, is_infinite. rewrite last_bit_shift, shift_zero, shift_negative by auto.
    rewrite log2_shift by auto.
    replace (last_bit c n u - (u - k)) with (last_bit c n u - u + k) by lia.
    replace (Z.log2 (Z.abs n) + k + (u - k)) with (Z.log2 (Z.abs n) + u) by lia.
    replace (Z.log2 (Z.abs n) + u - p c - (u - k)) with (Z.log2 (Z.abs n) + u - p c - u + k) by lia.
    rewrite !round_shift by auto. rewrite ?shift_positive by auto. reflexivity.
Qed.

Lemma fixed_shift x s n u k : 0 <= k -> fixed_convert x s (n * 2 ^ k) (u - k) = fixed_convert x s n u.
Proof.
  intros K. unfold fixed_convert. replace (- places x - (u - k)) with (- places x - u + k) by lia.
  now rewrite round_shift, shift_zero, shift_negative by auto.
Qed.

Lemma round_to_shift r s n u k : 0 <= k -> round_to r s (n * 2 ^ k) (u - k) = round_to r s n u.
Proof. destruct r; cbn [round_to]; auto using convert_shift, fixed_shift. Qed.

Lemma round_num_finer r x y : finer x y -> round_num r y = round_num r x.
Proof.
  intros H. destruct (finer_signed _ _ H) as [k [K [S L]]]. unfold round_num. rewrite S, L, round_to_shift by auto.
  now destruct H as [-> _].
Qed.

(** * Sums see values *)

(** Whether a sum sees the values of its terms alone. *)
Definition value_sum (d : sum) : bool :=
  match fraction_bits d with
  | None => true
  | Some _ => normalise d && match zero_exponent d with ZeroOwn => false | _ => true end
  end.
Definition value_stage (s : stage) : bool := match s with Stage d | FixedStage d _ => value_sum d end.

Lemma finer_numbers vs ws : Forall2 finer_val vs ws ->
  match numbers vs, numbers ws with Some ts, Some us => Forall2 finer ts us | None, None => True | _, _ => False end.
Proof.
  intros H. unfold numbers. induction H as [|v w vs ws A H IH]; cbn [forallb map]; [constructor|].
  destruct v as [x| |], w as [y| |]; try easy; cbn [is_num num_of andb].
  destruct (forallb is_num vs), (forallb is_num ws); auto.
Qed.

Lemma finer_exists (q : val -> bool) vs ws : (forall v w, finer_val v w -> q w = q v) -> Forall2 finer_val vs ws ->
  existsb q ws = existsb q vs.
Proof. intros Q. induction 1; cbn; auto. erewrite Q by eauto. congruence. Qed.

Lemma finer_forall (q : val -> bool) vs ws : (forall v w, finer_val v w -> q w = q v) -> Forall2 finer_val vs ws ->
  forallb q ws = forallb q vs.
Proof. intros Q. induction 1; cbn; auto. erewrite Q by eauto. congruence. Qed.

Lemma finer_special vs ws : Forall2 finer_val vs ws -> special_sum ws = special_sum vs.
Proof.
  intros H. unfold special_sum.
  rewrite (finer_exists (fun v => match v with NaN => true | _ => false end) vs ws); auto; [|intros [] []; easy].
  rewrite (finer_exists (fun v => match v with Inf false => true | _ => false end) vs ws); auto; [|intros [|[]|] [|[]|]; easy].
  rewrite (finer_exists (fun v => match v with Inf true => true | _ => false end) vs ws); auto. intros [|[]|] [|[]|]; easy.
Qed.

Lemma forallb_neg ts us : Forall2 finer ts us -> forallb neg us = forallb neg ts /\
  forallb (fun x => negb (neg x)) us = forallb (fun x => negb (neg x)) ts /\ existsb neg us = existsb neg ts.
Proof. induction 1 as [|x y ts us [N _] H [A [B C]]]; cbn; auto. now rewrite N, A, B, C. Qed.

Lemma forallb_shift k l : 0 <= k -> forallb (Z.eqb 0) (map (fun n => n * 2 ^ k) l) = forallb (Z.eqb 0) l.
Proof. intros K. induction l as [|n l IH]; cbn [map forallb]; auto. rewrite IH, !(Z.eqb_sym 0). now rewrite shift_zero. Qed.

Lemma sign_finer m n k ts us ns : 0 <= k -> Forall2 finer ts us ->
  sign_of m (n * 2 ^ k) us (map (fun n => n * 2 ^ k) ns) = sign_of m n ts ns.
Proof.
  intros K H. unfold sign_of. rewrite shift_zero, shift_negative, forallb_shift by auto.
  destruct (forallb_neg _ _ H) as [-> [-> ->]]. reflexivity.
Qed.

Lemma zsum_shift k l : zsum (map (fun n => n * 2 ^ k) l) = zsum l * 2 ^ k.
Proof. induction l; cbn [map zsum fold_right] in *; [lia|]. unfold zsum in *. lia. Qed.

Lemma largest_finer d ts us : value_sum d = true -> fraction_bits d <> None -> Forall2 finer ts us -> largest d us = largest d ts.
Proof.
  intros V F H. unfold value_sum in V. destruct (fraction_bits d) eqn:Fb; [|easy]. apply andb_prop in V. destruct V as [N Z].
  unfold largest. induction H as [|x y ts us A H IH]; cbn; auto. unfold largest in IH. rewrite IH. f_equal. unfold term_exponent. rewrite N, (finer_zero _ _ A).
  destruct (is_zero x) eqn:Q; [destruct (zero_exponent d); easy|]. f_equal. now apply finer_exponent.
Qed.

Lemma least_finer ts us : Forall2 finer ts us -> least_lsb us <= least_lsb ts.
Proof.
  destruct 1 as [|x y ts us A H]; cbn; [lia|]. destruct A as [_ [k [K [_ L]]]].
  assert (B : lsb y <= lsb x) by lia. clear K L k. revert B. generalize (lsb x) (lsb y). intros a b B.
  induction H as [|x' y' ts us A H IH]; cbn; [lia|]. destruct A as [_ [k [K [_ L]]]]. lia.
Qed.

Lemma fold_min z l : fold_right Z.min z l <= z /\ forall y, In y l -> fold_right Z.min z l <= y.
Proof. induction l as [|y l [I J]]; cbn; [split; [lia|easy]|]. split; [lia|]. intros e [->|E]; [lia|]. specialize (J e E). lia. Qed.

Lemma least_below ts x : In x ts -> least_lsb ts <= lsb x.
Proof.
  destruct ts as [|t r]; [easy|]. cbn. intros H. destruct (fold_min (lsb t) (map lsb r)) as [G1 G2]. destruct H as [->|H]; auto. apply G2. now apply in_map.
Qed.

(** The counts in a smaller unit. *)
Lemma counts_finer d ts us : value_sum d = true -> Forall2 finer ts us ->
  exists k, 0 <= k /\ unit_of d us = unit_of d ts - k /\
    map (cut (alignment d) (unit_of d us)) us = map (fun n => n * 2 ^ k) (map (cut (alignment d) (unit_of d ts)) ts) /\
    (fraction_bits d <> None -> k = 0).
Proof.
  intros V H. assert (C : forall u, map (cut (alignment d) u) us = map (cut (alignment d) u) ts).
  { intros u. induction H as [|x y ts us A H IH]; cbn; auto. rewrite (cut_finer _ _ _ _ A). f_equal. auto. }
  destruct (fraction_bits d) as [f|] eqn:F.
  - exists 0. unfold unit_of. rewrite F, (largest_finer d ts us) by (congruence || auto). split; [lia|]. split; [destruct (largest d ts); lia|].
    split; auto. rewrite C, map_map. apply map_ext. intros x. rewrite Z.pow_0_r. lia.
  - unfold unit_of. rewrite F. pose proof (least_finer _ _ H). exists (least_lsb ts - least_lsb us). split; [lia|]. split; [lia|].
    split; [|easy]. rewrite C, map_map. apply map_ext_in. intros x Hx. pose proof (least_below ts x Hx). unfold cut.
    rewrite !round_div_unfold. destruct (Z.leb_spec (least_lsb us - lsb x) 0); [|lia]. destruct (Z.leb_spec (least_lsb ts - lsb x) 0); [|lia].
    rewrite <- Z.mul_assoc, <- Z.pow_add_r by lia. do 2 f_equal. lia.
Qed.

Lemma held_shift d n k : 0 <= k -> (fraction_bits d <> None -> k = 0) -> held d (n * 2 ^ k) = held d n * 2 ^ k.
Proof.
  intros K Z. unfold held. destruct (carry_bits d), (fraction_bits d); auto. rewrite Z by easy. rewrite Z.pow_0_r, !Z.mul_1_r. reflexivity.
Qed.

Lemma sum_at_finer d r ts us : value_sum d = true -> Forall2 finer ts us ->
  sum_at d r (unit_of d us) us = sum_at d r (unit_of d ts) ts.
Proof.
  intros V H. destruct (counts_finer d ts us V H) as [k [K [U [C Z]]]]. unfold sum_at. cbv zeta. rewrite C, zsum_shift, held_shift, U by auto.
  rewrite round_to_shift by auto. f_equal. now apply sign_finer.
Qed.

Lemma sum_at_total d ts : sum_numbers d ts = sum_at d (Floating (out d)) (unit_of d ts) ts.
Proof. reflexivity. Qed.

Lemma add_finer s vs ws : value_stage s = true -> Forall2 finer_val vs ws -> add s ws = add s vs.
Proof.
  intros V H. pose proof (finer_numbers _ _ H) as N. destruct s as [d|d x]; cbn [value_stage add] in *.
  - unfold sum_values. destruct (numbers vs), (numbers ws); try easy; [|now apply finer_special].
    rewrite !sum_at_total. now apply sum_at_finer.
  - unfold on_numbers. destruct (numbers vs), (numbers ws); try easy; [|now apply finer_special]. now apply sum_at_finer.
Qed.

(** * Products see values *)

Lemma times_finer x x' y y' : finer x x' -> finer y y' -> finer (times x y) (times x' y').
Proof.
  intros [N [k [K [S L]]]] [N' [k' [K' [S' L']]]]. split; [cbn; now rewrite N, N'|]. exists (k + k'). unfold times, lsb in *. cbn [sig exp frac].
  rewrite S, S', Z.pow_add_r by lia. repeat split; lia.
Qed.

Lemma product_finer v v' w w' : finer_val v v' -> finer_val w w' -> finer_val (product v w) (product v' w').
Proof.
  intros V W. destruct v as [x|s|], v' as [x'|s'|]; try easy; destruct w as [y|t|], w' as [y'|t'|]; try easy; cbn in *; subst; auto using times_finer.
  - rewrite (finer_zero _ _ V). destruct V as [-> _]. destruct (is_zero x); cbn; auto.
  - rewrite (finer_zero _ _ W). destruct W as [-> _]. destruct (is_zero y); cbn; auto.
Qed.

Lemma negate_finer v w : finer_val v w -> finer_val (negate v) (negate w).
Proof.
  destruct v as [x| |], w as [y| |]; try easy; cbn; [|congruence]. intros [N [k [K [S L]]]]. split; [cbn; now rewrite N|]. exists k. cbn. auto.
Qed.

Lemma scaled_finer q q' a a' b b' k ss :
  zero_terms q = None -> zero_terms q' = None -> subtracted q' k = subtracted q k ->
  product_limit q' = product_limit q -> product_rounding q' = product_rounding q ->
  finer_val a a' -> finer_val b b' -> finer_val (scaled_product q a b k ss) (scaled_product q' a' b' k ss).
Proof.
  intros Z Z' Od L R A B. unfold scaled_product. rewrite Z, Z', !zero_as_none, Od, L, R.
  assert (S : forall v w, finer_val v w -> finer_val (fold_left product ss v) (fold_left product ss w)).
  { induction ss as [|s r IH]; auto. intros v w H. cbn [fold_left]. apply IH. apply product_finer; auto using finer_val_refl. }
  pose proof (product_finer _ _ _ _ A B) as P.
  match goal with |- context [if ?s then _ else _] =>
    assert (N : finer_val (if s then negate (product a b) else product a b) (if s then negate (product a' b') else product a' b'))
      by (destruct s; auto using negate_finer) end.
  specialize (S _ _ N). destruct (fold_left product ss _) as [x| |], (fold_left product ss _) as [y| |]; try easy. cbn in S.
  assert (E : match product_limit q with Some l => negb (is_zero y) && (l <=? own_exponent y) | None => false end =
              match product_limit q with Some l => negb (is_zero x) && (l <=? own_exponent x) | None => false end).
  { destruct (product_limit q); auto. rewrite (finer_zero _ _ S). destruct (is_zero x) eqn:Q; auto. now rewrite (finer_exponent _ _ S Q). }
  cbv zeta. rewrite E. match goal with |- finer_val (if ?o then _ else _) _ => destruct o end; [change (neg x = neg y); symmetry; apply S|].
  destruct (product_rounding q) as [r|]; [|exact S]. rewrite (round_num_finer r _ _ S). apply finer_val_refl.
Qed.

Lemma normalised_finer v : finer_val v (on_num normalised v).
Proof.
  destruct v as [x| |]; cbn; auto. unfold normalised. destruct (is_subnormal x) eqn:Q; [|apply finer_refl]. split; auto.
  unfold is_subnormal in Q. apply andb_prop in Q. destruct Q as [_ Q]. apply Z.ltb_lt in Q. exists (frac x - Z.log2 (sig x)). unfold lsb. cbn. lia.
Qed.

(** * Orders of summation see values *)

Notation finer_vals := (Forall2 finer_val).

Lemma finer_app vs ws v w : finer_vals vs ws -> finer_val v w -> finer_vals (vs ++ [v]) (ws ++ [w]).
Proof. intros. apply Forall2_app; auto. Qed.

Lemma finer_second vs ws : finer_vals vs ws -> finer_vals (every_second vs) (every_second ws).
Proof.
  assert (G : forall n vs ws, (length vs <= n)%nat -> finer_vals vs ws -> finer_vals (every_second vs) (every_second ws)).
  { induction n as [|n IH]; intros vs' ws' L H; destruct H as [|a b r r' A H]; try (constructor; fail); cbn in L; [lia|].
    destruct H as [|a' b' r r' A' H]; cbn [every_second]; [repeat constructor; auto|]. constructor; auto. apply IH; auto. cbn in L. lia. }
  eapply G; eauto.
Qed.

Lemma finer_tl vs ws : finer_vals vs ws -> finer_vals (tl vs) (tl ws).
Proof. destruct 1; cbn; auto. Qed.

Lemma chain_results_finer s last : value_stage s = true -> value_stage last = true -> forall vs ws x, finer_vals vs ws ->
  chain_results s last x ws = chain_results s last x vs.
Proof.
  intros S L vs ws x H. revert x. unfold chain_results. induction H as [|v w vs ws A H IH]; intros x; [reflexivity|].
  assert (E : forall t, value_stage t = true -> add t [x; w] = add t [x; v]).
  { intros t T. apply add_finer; auto. repeat constructor; auto using finer_val_refl. }
  destruct H as [|v' w' vs ws A' H]; [now rewrite E|]. rewrite (E s S). f_equal. apply IH.
Qed.

Lemma chain_of_finer s : value_stage s = true -> forall vs ws x, finer_vals vs ws -> chain_of s x ws = chain_of s x vs.
Proof.
  intros S vs ws x H. unfold chain_of. revert x. induction H as [|v w vs ws A H IH]; intros x; cbn [fold_left]; auto.
  rewrite (add_finer s [x; v] [x; w]); auto. repeat constructor; auto using finer_val_refl.
Qed.

Lemma add_pairs_finer s vs ws : value_stage s = true -> finer_vals vs ws -> finer_vals (add_pairs s vs) (add_pairs s ws).
Proof.
  intros S. assert (G : forall n vs ws, (length vs <= n)%nat -> finer_vals vs ws -> finer_vals (add_pairs s vs) (add_pairs s ws)).
  { induction n as [|n IH]; intros vs' ws' L H; destruct H as [|a b r r' A H]; cbn; auto; cbn in L; [lia|].
    destruct H as [|a' b' r r' A' H]; [repeat constructor; auto|]. constructor.
    - rewrite (add_finer s [a; a'] [b; b']); auto using finer_val_refl.
    - apply IH; auto. cbn in L. lia. }
  eapply G; eauto.
Qed.

Lemma finer_length vs ws : finer_vals vs ws -> length ws = length vs.
Proof. induction 1; cbn; congruence. Qed.

Lemma pairwise_finer s n : value_stage s = true -> forall vs ws, finer_vals vs ws -> finer_val (pairwise n s vs) (pairwise n s ws).
Proof.
  intros S. induction n as [|n IH]; intros vs ws H; (destruct H as [|a b r r' A H]; [|destruct H as [|a' b' r r' A' H]]); cbn [pairwise]; auto using finer_val_refl.
  - rewrite (add_finer s (a :: a' :: r) (b :: b' :: r')); auto using finer_val_refl.
  - apply IH. apply add_pairs_finer; auto.
Qed.

Lemma two_chains_finer s vs ws : value_stage s = true -> finer_vals vs ws -> two_chains s ws = two_chains s vs.
Proof.
  intros S H. unfold two_chains, evens, odds. do 2 f_equal.
  - now apply chain_of_finer, finer_second.
  - f_equal. now apply chain_of_finer, finer_second, finer_tl.
Qed.

Lemma inner_finer how s vs ws : value_stage s = true -> finer_vals vs ws -> finer_val (inner_sum how s None vs) (inner_sum how s None ws).
Proof.
  intros S H. destruct how; cbn [inner_sum add_from].
  - rewrite (add_finer s vs ws); auto using finer_val_refl.
  - destruct H as [|v w vs ws A H]; [apply finer_val_refl|].
    destruct H as [|v' w' vs ws A' H]; cbn [chain_of fold_left]; auto.
    rewrite (add_finer s [v; v'] [w; w']) by auto.
    change (finer_val (chain_of s (add s [v; v']) vs) (chain_of s (add s [v; v']) ws)). rewrite (chain_of_finer s S vs ws); auto using finer_val_refl.
  - rewrite (finer_length _ _ H). now apply pairwise_finer.
  - rewrite (two_chains_finer s vs ws); auto using finer_val_refl.
  - rewrite (two_chains_finer s (add_pairs s vs) (add_pairs s ws)); auto using finer_val_refl, add_pairs_finer.
Qed.

Fixpoint value_steps (t : steps) : bool :=
  match t with Step s l => value_stage s && forallb value_steps l | _ => true end.

Lemma nth_finer vs ws k : finer_vals vs ws -> finer_val (nth k vs NaN) (nth k ws NaN).
Proof. intros H. revert k. induction H as [|v w vs ws A H IH]; intros [|k]; cbn; auto. Qed.

Lemma steps_finer r c vs ws t : finer_vals vs ws -> value_steps t = true ->
  finer_val (eval_steps r vs c t) (eval_steps r ws c t) /\
  match t with Step _ _ => eval_steps r ws c t = eval_steps r vs c t | _ => True end.
Proof.
  intros H. induction t as [k| | |s l IH] using steps_ind'; cbn [value_steps]; intros V; cbn [eval_steps]; auto using finer_val_refl, nth_finer.
  apply andb_prop in V. destruct V as [V F].
  match goal with |- finer_val (add s (map ?f l)) (add s (map ?g l)) /\ _ => assert (E : add s (map g l) = add s (map f l)) end.
  { apply add_finer; auto. induction IH as [|x l P IH IHl]; cbn [map]; constructor.
    - cbn [forallb] in F. apply andb_prop in F. destruct F as [Fx F]. destruct (P Fx) as [P1 P2].
      destruct x; auto using finer_val_refl. rewrite P2. apply finer_val_refl.
    - apply IHl. cbn [forallb] in F. now apply andb_prop in F. }
  rewrite E. auto using finer_val_refl.
Qed.

Definition value_summation (how : summation) : bool :=
  match how with
  | OneSum s => value_stage s
  | FromC s last | CLast _ s last => value_stage s && value_stage last
  | InSteps (Step s l) => value_steps (Step s l)
  | _ => false
  end.

Lemma block_sum_finer how r fs fs' vs ws c : value_summation how = true -> finer_vals vs ws ->
  block_sum how r None fs' ws c = block_sum how r None fs vs c.
Proof.
  intros V H. destruct how as [s|s|s|s|s|s h|s last|how s last|t]; try easy; cbn [block_sum value_summation add_from] in *.
  - apply add_finer; auto. apply finer_app; auto using finer_val_refl.
  - apply andb_prop in V. destruct V as [S L]. now rewrite (chain_results_finer s last S L vs ws).
  - apply andb_prop in V. destruct V as [S L]. apply add_finer; auto. repeat constructor; auto using finer_val_refl, inner_finer.
  - destruct t as [| | |s l]; try easy. now apply (steps_finer r c vs ws (Step s l)).
Qed.

(** * The words of NaN results see values *)

Lemma finer_nan v w : finer_val v w -> is_nan w = is_nan v.
Proof. now destruct v, w. Qed.

Lemma chain_nan_finer r default ns vs ws : finer_vals vs ws -> forall o,
  chain_nan r default o (combine ns ws) = chain_nan r default o (combine ns vs).
Proof.
  intros H. unfold chain_nan. revert ns. induction H as [|v w vs ws A H IH]; intros [|[a b] ns] o; cbn [combine fold_left]; auto.
  rewrite (finer_nan _ _ A). apply IH.
Qed.

Lemma pairs_nan_finer default s : value_stage s = true -> forall ns vs ws, finer_vals vs ws -> forall x,
  pairs_nan default s x (combine ns ws) = pairs_nan default s x (combine ns vs).
Proof.
  intros S. assert (G : forall m ns vs ws, (length ns <= m)%nat -> finer_vals vs ws -> forall x,
    pairs_nan default s x (combine ns ws) = pairs_nan default s x (combine ns vs)).
  { induction m as [|m IH]; intros ns vs ws L H x; destruct ns as [|n ns]; auto; cbn in L; try lia.
    destruct H as [|v w vs ws A H]; auto. destruct ns as [|n' ns]; [destruct ws, vs; reflexivity|].
    destruct H as [|v' w' vs ws A' H]; auto. cbn [combine pairs_nan]. rewrite (finer_nan _ _ A), (finer_nan _ _ A').
    destruct (is_nan v); auto. destruct (is_nan v'); auto. cbv zeta.
    rewrite (add_finer s [v; v'] [w; w']) by auto. destruct (is_nan (add s [x; add s [v; v']])); auto.
    destruct ns as [|n1 ns]; auto. destruct H as [|v1 w1 vs ws A1 H]; auto. destruct ns as [|n2 ns]; [now destruct vs, ws|].
    destruct H as [|v2 w2 vs ws A2 H]; auto. cbn [combine]. apply IH; auto. cbn in L. lia. }
  intros. eapply G; eauto.
Qed.

Lemma steps_nan_finer q default r ns vs ws c cw t : finer_vals vs ws -> value_steps t = true ->
  steps_nan q default r ns ws c cw t = steps_nan q default r ns vs c cw t.
Proof.
  intros H. induction t as [k| | |s l IH] using steps_ind'; intros V; cbn [steps_nan]; auto.
  destruct (steps_finer r c vs ws (Step s l) H V) as [_ E]. rewrite E. destruct (negb (is_nan _)); auto. do 6 f_equal.
  cbn [value_steps] in V. apply andb_prop in V. destruct V as [_ F]. clear E. induction IH as [|x l P IH IHl]; cbn [map]; auto.
  cbn [forallb] in F. apply andb_prop in F. destruct F. f_equal; auto.
Qed.

Lemma combine_tl {A B} (l : list A) (m : list B) : tl (combine l m) = combine (tl l) (tl m).
Proof. destruct l, m; cbn; auto. now destruct l. Qed.

Lemma block_nan_finer how r default ns vs ws c cw : value_summation how = true -> finer_vals vs ws ->
  block_nan how r default ns ws c cw = block_nan how r default ns vs c cw.
Proof.
  intros V H. unfold block_nan.
  assert (Q : forallb is_num ws = forallb is_num vs) by (apply finer_forall; auto; now intros [] []).
  assert (E : match how with
      | CLast Together s _ => otherwise default (first_some [chain_nan r default None (combine ns [hd NaN ws; add s ws]); cw])
      | CLast TwoChains s _ =>
          otherwise default (first_some [cw; chain_nan r default None (combine (evens ns) (results_from_zero s (evens ws)));
                                             chain_nan r default None (combine (odds ns) (results_from_zero s (odds ws)))])
      | CLast PairChains s _ =>
          otherwise default (first_some [cw; pairs_nan default s (zero_of (stage_rounding s)) (combine ns ws);
                                             pairs_nan default s (zero_of (stage_rounding s)) (tl (tl (combine ns ws)))])
      | FromC s last => otherwise default (chain_nan r default cw (combine ns (chain_results s last c ws)))
      | OneSum s => otherwise default (chain_nan r default cw (combine ns (chain_results s s c ws)))
      | _ => default
      end = match how with
      | CLast Together s _ => otherwise default (first_some [chain_nan r default None (combine ns [hd NaN vs; add s vs]); cw])
      | CLast TwoChains s _ =>
          otherwise default (first_some [cw; chain_nan r default None (combine (evens ns) (results_from_zero s (evens vs)));
                                             chain_nan r default None (combine (odds ns) (results_from_zero s (odds vs)))])
      | CLast PairChains s _ =>
          otherwise default (first_some [cw; pairs_nan default s (zero_of (stage_rounding s)) (combine ns vs);
                                             pairs_nan default s (zero_of (stage_rounding s)) (tl (tl (combine ns vs)))])
      | FromC s last => otherwise default (chain_nan r default cw (combine ns (chain_results s last c vs)))
      | OneSum s => otherwise default (chain_nan r default cw (combine ns (chain_results s s c vs)))
      | _ => default
      end).
  { destruct how as [s|s|s|s|s|s h|s last|how s last|t]; try easy; cbn [value_summation] in V.
    - now rewrite (chain_results_finer s s V V vs ws).
    - apply andb_prop in V. destruct V as [S L]. now rewrite (chain_results_finer s last S L vs ws).
    - apply andb_prop in V. destruct V as [S L]. destruct how; auto.
      + do 2 f_equal. apply (f_equal (fun x => [x; cw])). apply chain_nan_finer. constructor; [destruct H; auto; exact I|].
        constructor; [|constructor]. rewrite (add_finer s vs ws); auto using finer_val_refl.
      + unfold results_from_zero, evens, odds.
        rewrite (chain_results_finer s s S S (every_second vs) (every_second ws)), (chain_results_finer s s S S (every_second (tl vs)) (every_second (tl ws)));
          auto using finer_second, finer_tl.
      + rewrite !combine_tl, !(pairs_nan_finer default s S _ vs ws), !(pairs_nan_finer default s S _ (tl (tl vs)) (tl (tl ws))); auto using finer_tl. }
  destruct r; auto. destruct (existsb _ ns); auto. rewrite Q, (finer_special _ _ H). reflexivity.
Qed.

(** * From words to words *)

(** The same design whose factors are, or are not, normalised before they are multiplied. *)
Definition with_normalised (d : design) (b : bool) : design :=
  let q := factors d in
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := scales d;
     converted := converted d;
     factors := {| of_a := of_a q; of_b := of_b q; normalise_factors := b; exponent_step := exponent_step q; zero_terms := zero_terms q;
                   odd_negated := odd_negated q; even_negated := even_negated q; product_limit := product_limit q; product_rounding := product_rounding q |};
     cutting_of := cutting_of d; block := block d; odd_first := odd_first d; skips := skips d; c_rule := c_rule d; sums := sums d;
     nan_word := nan_word d; nans := nans d; composed := composed d |}.

(** Sums that see values alone, or any sums of products that are rounded. *)
Definition value_only (d : design) : bool :=
  match cutting_of d, zero_terms (factors d) with
  | Whole, None =>
      match product_rounding (factors d) with Some _ => true | None => value_summation (sums d) end
  | _, _ => false
  end.

Lemma rounded_same q q' a a' b b' k ss r :
  zero_terms q = None -> zero_terms q' = None -> subtracted q' k = subtracted q k ->
  product_limit q' = product_limit q -> product_rounding q = Some r -> product_rounding q' = Some r ->
  finer_val a a' -> finer_val b b' -> scaled_product q' a' b' k ss = scaled_product q a b k ss.
Proof.
  intros Z Z' Od L R R' A B. unfold scaled_product. rewrite Z, Z', !zero_as_none, Od, L, R, R'.
  assert (S : forall v w, finer_val v w -> finer_val (fold_left product ss v) (fold_left product ss w)).
  { induction ss as [|s l IH]; auto. intros v w H. cbn [fold_left]. apply IH. apply product_finer; auto using finer_val_refl. }
  pose proof (product_finer _ _ _ _ A B) as P.
  match goal with |- context [if ?s then negate (product a b) else _] =>
    assert (N : finer_val (if s then negate (product a b) else product a b) (if s then negate (product a' b') else product a' b'))
      by (destruct s; auto using negate_finer) end.
  specialize (S _ _ N). destruct (fold_left product ss _) as [x| |], (fold_left product ss _) as [y| |]; try easy; cbn in S; try congruence.
  assert (E : match product_limit q with Some l => negb (is_zero y) && (l <=? own_exponent y) | None => false end =
              match product_limit q with Some l => negb (is_zero x) && (l <=? own_exponent x) | None => false end).
  { destruct (product_limit q); auto. rewrite (finer_zero _ _ S). destruct (is_zero x) eqn:Q; auto. now rewrite (finer_exponent _ _ S Q). }
  cbv zeta. rewrite E. destruct S as [Ns Sx]. rewrite Ns. rewrite (round_num_finer r x y) by (split; auto). reflexivity.
Qed.

Lemma factor_finer d r v : finer_val (factor (factors (with_normalised d false)) r v) (factor (factors (with_normalised d true)) r v).
Proof. unfold factor. cbn [factors with_normalised normalise_factors]. apply normalised_finer. Qed.

Lemma terms_finer d b : cutting_of d = Whole -> zero_terms (factors d) = None ->
  finer_vals (fst (terms (with_normalised d false) b)) (fst (terms (with_normalised d true) b)) /\
  snd (terms (with_normalised d false) b) = None /\ snd (terms (with_normalised d true) b) = None.
Proof.
  intros W Z. unfold terms. cbn [cutting_of with_normalised]. rewrite W. cbn [fst snd]. split; [|auto].
  induction b as [|x b IH]; cbn [map]; constructor; auto. unfold a_of, b_of. apply scaled_finer; auto; apply factor_finer.
Qed.

Lemma block_step_finer d st b : value_only d = true -> block_step (with_normalised d true) st b = block_step (with_normalised d false) st b.
Proof.
  unfold value_only. destruct (cutting_of d) eqn:W; try discriminate. destruct (zero_terms (factors d)) eqn:Z; [discriminate|].
  destruct (product_rounding (factors d)) as [r|] eqn:Pr.
  { intros V. assert (T : forall l, terms (with_normalised d true) l = terms (with_normalised d false) l).
    { intros l. unfold terms. cbn [cutting_of with_normalised]. rewrite W. f_equal. apply map_ext. intros x. unfold a_of, b_of.
      apply rounded_same with r; auto; apply factor_finer. }
    destruct st as [v w]. unfold block_step. rewrite T.
    assert (Wf : forall l, whole_factors (with_normalised d true) l = whole_factors (with_normalised d false) l) by reflexivity.
    rewrite Wf. reflexivity. }
  intros V.
  destruct st as [v w]. unfold block_step.
  change (skips (with_normalised d true)) with (skips d). change (skips (with_normalised d false)) with (skips d).
  destruct (skips d && _); [reflexivity|].
  change (odd_first (with_normalised d true)) with (odd_first d). change (odd_first (with_normalised d false)) with (odd_first d).
  set (l := if odd_first d then swapped b else b).
  destruct (terms_finer d l W Z) as [T [N1 N2]].
  destruct (terms (with_normalised d true) l) as [ws e]. destruct (terms (with_normalised d false) l) as [vs e']. cbn [fst snd] in T, N1, N2. subst e e'.
  cbn [c_rule with_normalised factors zero_terms sums nans nan_word a_format b_format d_format]. rewrite Z, !zero_as_none.
  set (c := flush (c_rule d) v). rewrite (block_sum_finer (sums d) (c_rule d) (whole_factors (with_normalised d false) l) (whole_factors (with_normalised d true) l) vs ws c V T).
  f_equal. destruct (negb (is_nan _)); [reflexivity|]. destruct (sums d) as [s|s|s|s|s|s h|s last|how s last|t] eqn:Sd; try discriminate V;
    try (destruct (nans d); auto; now apply block_nan_finer).
  destruct (nans d); auto; f_equal; apply steps_nan_finer; auto; destruct t; try easy.
Qed.

(** Factors of which no subnormal one is left. *)
Definition flushed_factors (d : design) : bool :=
  let gone r := match r with PositiveZero | SignedZero => true | _ => false end in gone (of_a (factors d)) && gone (of_b (factors d)).

Lemma factor_flushed d r v : match r with PositiveZero | SignedZero => true | _ => false end = true ->
  factor (factors (with_normalised d true)) r v = factor (factors (with_normalised d false)) r v.
Proof.
  intros R. unfold factor. cbn [factors with_normalised normalise_factors]. destruct v as [x| |]; auto. unfold flush. destruct (is_subnormal x) eqn:S; cbn [negb].
  - destruct r; try easy; reflexivity.
  - cbn [on_num]. unfold normalised. now rewrite S.
Qed.

Lemma block_step_flushed d st b : flushed_factors d = true -> block_step (with_normalised d true) st b = block_step (with_normalised d false) st b.
Proof.
  unfold flushed_factors. intros O. apply andb_prop in O. destruct O as [Ra Rb].
  assert (A : forall x, a_of (with_normalised d true) x = a_of (with_normalised d false) x) by (intros; now apply factor_flushed).
  assert (B : forall x, b_of (with_normalised d true) x = b_of (with_normalised d false) x) by (intros; now apply factor_flushed).
  assert (T : forall l, terms (with_normalised d true) l = terms (with_normalised d false) l).
  { intros l. unfold terms. cbn [cutting_of sums with_normalised]. destruct (cutting_of d).
    - f_equal. apply map_ext. intros x. rewrite A, B. reflexivity.
    - f_equal. apply flat_map_ext. intros x. rewrite A, B. reflexivity.
    - cbv zeta. match goal with |- (map fst (map ?f ?x), _) = (map fst (map ?g ?x), _) => assert (M : map f x = map g x) end; [|now rewrite M].
      apply map_ext. intros g. f_equal. apply map_ext. intros x. rewrite A, B. reflexivity. }
  destruct st as [v w]. unfold block_step. rewrite T. reflexivity.
Qed.

(** Where sums see values alone, or no subnormal factor is left, it does not matter whether those are normalised before they are multiplied. *)
Theorem normalised_factors_idle d w : value_only d || flushed_factors d = true -> compute (with_normalised d true) w = compute (with_normalised d false) w.
Proof.
  intros V. assert (S : forall st b, block_step (with_normalised d true) st b = block_step (with_normalised d false) st b)
    by (intros; apply orb_prop in V; destruct V; auto using block_step_finer, block_step_flushed).
  assert (B : forall xs st, blocks (with_normalised d true) xs st = blocks (with_normalised d false) xs st).
  { intros xs st. unfold blocks. cbn [block with_normalised]. generalize (cut_list (length xs) (block d) xs) as bs. intros bs. revert st.
    induction bs as [|b bs IH]; intros st; cbn [fold_left]; auto. rewrite S. apply IH. }
  unfold compute. cbn [composed with_normalised]. change (elements (with_normalised d true) w) with (elements d w).
  change (elements (with_normalised d false) w) with (elements d w). destruct (composed d) as [how|].
  - cbn [d_format c_format with_normalised]. f_equal. apply (f_equal (sum_values (addition how))). apply (f_equal (fun r => [flush (of_sum how) (fst r); flush (of_c how) (decode (c_format d) (c_word w))])).
    generalize (decode (d_format d) 0, 0) as st. induction (parts how) as [|k r IH]; intros st; cbn [fold_left]; [reflexivity|]. rewrite B. apply IH.
  - rewrite B. reflexivity.
Qed.
