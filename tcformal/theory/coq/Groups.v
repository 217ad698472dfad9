(** The error of sums of groups: products are added exactly in groups, which are scaled and then aligned with c. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Losses Accumulated Trees FromZero Exponents Growth.
Import ListNotations.
Open Scope R_scope.

(** * A sum in whose largest exponent another one takes part: a zero more has that exponent *)

Definition zero_at (e : Z) : num := {| neg := false; sig := 0; exp := e; frac := 0 |}.
Definition top_of (e : option Z) (s : sum) (ts : list num) : option Z := omax e (largest s ts).

Lemma numbers_inv vs ts : numbers vs = Some ts -> vs = map Num ts.
Proof.
  unfold numbers. destruct (forallb is_num vs) eqn:B; [|easy]. intros H. injection H as <-. rewrite map_map.
  induction vs as [|v r IH]; [reflexivity|]. cbn in *. apply andb_prop in B. destruct B as [B1 B2]. rewrite <- IH by exact B2. now destruct v.
Qed.

Lemma from_terms e s f ts z : fraction_bits s = Some f -> add_from e (Stage s) (map Num ts) = Num z ->
  sum_at s (Floating (out s)) (match top_of e s ts with None => 0 | Some E => E - f end) ts = Num z.
Proof.
  intros F H. destruct e as [e|]; cbn [add_from add stage_rounding] in H.
  - unfold on_numbers in H. rewrite numbers_map, F in H. exact H.
  - rewrite sum_values_num, sum_numbers_at in H. unfold unit_of in H. now rewrite F in H.
Qed.

Lemma from_numbers e s vs z : add_from e (Stage s) vs = Num z -> exists ts, vs = map Num ts.
Proof.
  intros H. destruct e as [e|]; cbn [add_from add] in H; [|exact (sum_values_inv _ _ _ H)].
  unfold on_numbers in H. destruct (numbers vs) as [ts|] eqn:N; [|exfalso; now apply (special_not_num _ _ H)]. exists ts. now apply numbers_inv.
Qed.

Lemma convert_sign c s t n u z : convert c s n u = Num z -> exists y, convert c t n u = Num y.
Proof.
  unfold convert. intros H. match type of H with (if ?b then _ else _) = _ => destruct b end; [eauto|].
  match type of H with (if ?b then _ else _) = _ => destruct b end; [|eauto]. destruct (is_infinite c n); eauto.
Qed.

Lemma exact_sum_snoc ts y : exact_sum (ts ++ [y]) = exact_sum ts + V y.
Proof. unfold exact_sum. rewrite map_app, Rsum_app. cbn. ring. Qed.

Lemma magnitude_snoc ts y : magnitude (ts ++ [y]) = magnitude ts + Rabs (V y).
Proof. unfold magnitude. rewrite map_app, Rsum_app. cbn. ring. Qed.

Lemma with_top e s f ts z E : fraction_bits s = Some f -> carry_bits s = None -> normalise s = false -> plain (out s) = true ->
  top_of e s ts = Some E -> sum_at s (Floating (out s)) (E - f) ts = Num z ->
  let s' := with_zero s (ZeroAt E) in let ts' := ts ++ [zero_at E] in
  largest s' ts' = Some E /\ exact_sum ts' = exact_sum ts /\ magnitude ts' = magnitude ts /\
  exists y, sum_numbers s' ts' = Num y /\ V y = V z.
Proof.
  intros F K N P T H s' ts'. assert (Z0 : V (zero_at E) = 0) by (now apply V_zero).
  assert (La : largest s' ts' = Some E).
  { assert (U : ole (largest s' ts') (Some E)).
    { apply largest_le. intros x Hx. unfold s', term_exponent. cbn [zero_exponent normalise with_zero]. destruct (is_zero x) eqn:Zx; [cbn; lia|]. rewrite N. cbn.
      apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; [|easy]. pose proof (largest_in s ts x Hx) as L. unfold term_exponent in L. rewrite Zx, N in L.
      unfold top_of in T. destruct e as [e|], (largest s ts) as [m|]; cbn in T, L; try easy; injection T as T; lia. }
    assert (I : In (zero_at E) ts') by (apply in_or_app; right; now left). pose proof (largest_in s' ts' _ I) as L. cbn in L.
    destruct (largest s' ts') as [m|]; cbn in U, L; [|easy]. f_equal. lia. }
  split; [exact La|]. split; [unfold ts'; rewrite exact_sum_snoc, Z0; ring|]. split; [unfold ts'; rewrite magnitude_snoc, Z0, Rabs_R0; ring|].
  unfold sum_at, held in H. rewrite K in H. cbn [round_to] in H.
  assert (C : total s' ts' = zsum (map (cut (alignment s) (E - f)) ts)).
  { unfold total, counts, unit_of. cbn [carry_bits alignment fraction_bits s' with_zero]. rewrite K, F. fold s'. rewrite La. unfold ts'. rewrite map_app. cbn [map].
    rewrite cut_zero by reflexivity. unfold zsum. now rewrite fold_right_app. }
  assert (U : unit_of s' ts' = (E - f)%Z) by (unfold unit_of; cbn [fraction_bits s' with_zero]; rewrite F; fold s'; now rewrite La).
  unfold sum_numbers. cbv zeta. rewrite C, U. change (out s') with (out s).
  destruct (convert_sign _ _ (sign_of (rho (out s)) (zsum (map (cut (alignment s) (E - f)) ts)) ts' (counts s' ts')) _ _ _ H) as [y Y].
  exists y. split; [exact Y|]. now rewrite (convert_num _ _ _ _ _ P Y), (convert_num _ _ _ _ _ P H).
Qed.

(** * One block of groups and c *)

Definition zero_low (s : sum) (e0 : Z) : bool :=
  match zero_exponent s with ZeroNone => true | ZeroOwn => false | ZeroAt q => match alignment s with RZ => (q <=? e0)%Z | _ => false end end.

Definition grouped_sum (s : sum) (f : Z) : bool :=
  plain (out s) && match carry_bits s with None => true | _ => false end && negb (normalise s) &&
  match fraction_bits s with Some g => (g =? f)%Z | None => false end && (0 <=? f)%Z && (p (out s) <=? f)%Z &&
  (emin (out s) <=? emax (out s))%Z && zero_low s (emin (out s)).

Lemma grouped_sum_parts s f : grouped_sum s f = true ->
  plain (out s) = true /\ carry_bits s = None /\ normalise s = false /\ fraction_bits s = Some f /\ (0 <= f)%Z /\ (p (out s) <= f)%Z /\
  (emin (out s) <= emax (out s))%Z /\ zero_low s (emin (out s)) = true.
Proof.
  unfold grouped_sum. intros O. repeat rewrite andb_true_iff in O. destruct O as [[[[[[[P K] Nn] Ff] F0] Pf] M] Ze].
  destruct (carry_bits s); [easy|]. destruct (fraction_bits s) as [g|]; [|easy]. apply Z.eqb_eq in Ff. subst g. apply negb_true_iff in Nn. repeat split; auto; lia.
Qed.

(** A group whose sum is zero though its products are not takes part with its own exponent [e]. *)
Definition of_group (e : option Z) (us : list num) : Prop :=
  forall q, e = Some q -> exists y, In y us /\ is_zero y = true /\ exp y = q.

(** The term that has the largest exponent loses nothing. *)
Lemma top_term e s f us x E : grouped_sum s f = true -> of_group e us -> Forall (settled f) us -> settled f x -> top_of e s (us ++ [x]) = Some E ->
  exists y, In y (us ++ [x]) /\ loss (alignment s) (E - f) y = 0 /\
    (zero_exponent s = ZeroAt E \/ exp y = E /\ (In y us /\ (is_zero y = true -> e = Some E) \/ y = x /\ is_zero x = false)).
Proof.
  intros O G Fu Fx T. destruct (grouped_sum_parts s f O) as [_ [_ [Nn [_ [_ [_ [_ Ze]]]]]]]. unfold top_of in T.
  assert (Q : e = Some E \/ largest s (us ++ [x]) = Some E).
  { destruct e as [e|], (largest s (us ++ [x])) as [m|]; cbn in T; try easy; auto. destruct (Z.max_spec e m) as [[_ Q]|[_ Q]]; rewrite Q in T; auto. }
  destruct Q as [Q|Q].
  - destruct (G E Q) as [y [Hy [Zy Ey]]]. exists y. split; [apply in_or_app; now left|]. split; [now apply loss_zero|]. right. split; [exact Ey|]. left. now split.
  - destruct (largest_attained s _ E Q) as [y [Hy Ey]]. exists y. split; [exact Hy|]. unfold term_exponent in Ey. destruct (is_zero y) eqn:Zy.
    + split; [now apply loss_zero|]. left. unfold zero_low in Ze. destruct (zero_exponent s); try easy. now injection Ey as <-.
    + rewrite Nn in Ey. injection Ey as Ey. apply in_app_or in Hy. rewrite <- Ey. destruct Hy as [Hy|[<-|[]]].
      * rewrite Forall_forall in Fu. split; [apply settled_loss; auto|]. right. split; auto. left. split; auto. congruence.
      * split; [now apply settled_loss|]. right. split; auto.
Qed.

Lemma cut_losses_at m u ts :
  Rabs (IZR (zsum (map (cut m u) ts)) * bp u - exact_sum ts) <= Rsum (map (loss m u) ts).
Proof.
  unfold exact_sum. induction ts as [|x r IH]; cbn [map].
  - cbn. rewrite Rmult_0_l, Rminus_0_r, Rabs_R0. lra.
  - change (zsum (?a :: ?l)) with (a + zsum l)%Z. rewrite !Rsum_cons, plus_IZR, Rmult_plus_distr_r, cut_ok.
    match goal with |- Rabs (?a + ?b - (?c + ?d)) <= _ => replace (a + b - (c + d)) with ((a - c) + (b - d)) by ring end.
    eapply Rle_trans; [apply Rabs_triang|]. unfold loss at 1. lra.
Qed.

Lemma all_zero e s f ts z : grouped_sum s f = true -> top_of e s ts = None -> sum_at s (Floating (out s)) 0 ts = Num z ->
  V z = 0 /\ exact_sum ts = 0.
Proof.
  intros O T H. destruct (grouped_sum_parts s f O) as [P [K _]]. unfold top_of in T.
  assert (L : largest s ts = None) by (destruct e, (largest s ts); easy).
  assert (Zs : forallb is_zero ts = true) by (apply forallb_forall; intros y Hy; now apply (largest_none s ts)).
  unfold sum_at, held in H. rewrite K in H. cbn [round_to] in H. rewrite zeros_count, zsum_zeros in H by exact Zs. split.
  - rewrite (convert_num _ _ _ _ _ P H), Rmult_0_l. unfold flt_rnd. pose proof (flt_valid _ (plain_p _ P)). apply round_0; auto with typeclass_instances.
  - unfold exact_sum. rewrite (Rsum_ext V (fun _ => 0)) by (intros y Hy; apply V_zero; rewrite forallb_forall in Zs; auto).
    clear. induction ts; cbn; [reflexivity|]. unfold Rsum in *. lra.
Qed.

Lemma losses_lossy m u us x y : In y (us ++ [x]) -> loss m u y = 0 -> forall n, (1 <= n)%Z -> (Z.of_nat (length us) <= n)%Z ->
  Rsum (map (loss m u) (us ++ [x])) <= units 1 n * bp u.
Proof.
  intros Hy Ly n N1 Ln. pose proof (losses_beside m u 1 us x y ltac:(lra) (proj2 (Forall_forall _ us) (fun q _ => lossy_whole m u q)) Hy Ly) as L.
  eapply Rle_trans; [exact L|]. apply Rmult_le_compat_r; [apply bpow_ge_0|]. unfold units. apply Rplus_le_compat_r. apply Rmult_le_compat_l; [lra|]. apply IZR_le. lia.
Qed.

(** In terms of what the products' magnitudes, and c's, are at most; from c = 0 a unit less. *)
Theorem grouped_loss e s f e0 n us x z A : grouped_sum s f = true -> (emin (out s) <= e0)%Z -> (1 <= n)%Z -> (Z.of_nat (length us) <= n)%Z ->
  of_group e us -> Forall (settled f) us -> settled f x -> floored e0 x -> magnitude (us ++ [x]) <= A ->
  (forall y, In y us -> is_zero y = false \/ e = Some (exp y) -> bp (exp y) <= A) ->
  add_from e (Stage s) (map Num us ++ [Num x]) = Num z ->
  Rabs (V z - exact_sum (us ++ [x])) <= kappa s f (if is_zero x then units_alone 1 n else units 1 n) * A + eta s f e0 (all_units n) /\
  settled f z /\ floored e0 z.
Proof.
  intros O E0 N1 Ln G Fu Fx Fl MA LA H. destruct (grouped_sum_parts s f O) as [P [K [Nn [F [F0 [Pf [M Ze]]]]]]].
  change [Num x] with (map Num [x]) in H. rewrite <- map_app in H. pose proof (from_terms e s f _ z F H) as S.
  split.
  2: { unfold sum_at in S. cbn [round_to] in S. destruct (result_fit s f e0 (emin (out s)) _ _ _ z P Pf M E0 ltac:(lia) S) as [R1 [R2 _]]. now split. }
  set (ts := us ++ [x]) in *. set (L := if is_zero x then units_alone 1 n else units 1 n).
  assert (n0 : 0 <= IZR (Z.max (n - 1) 0)) by (apply IZR_le; lia). assert (n1 : 1 <= IZR n) by (apply IZR_le; lia).
  assert (L0 : 0 <= L). { unfold L, units_alone, units. destruct (is_zero x); lra. }
  assert (LU : L <= all_units n).
  { unfold L, units_alone, units, all_units. assert (IZR (Z.max (n - 1) 0) = IZR n - 1) by (rewrite <- minus_IZR; f_equal; lia). destruct (is_zero x); lra. }
  assert (A0 : 0 <= A) by (eapply Rle_trans; [|exact MA]; apply Rsum_nonneg; intros; apply Rabs_pos).
  pose proof (kappa_pos s f L L0) as KP. pose proof (eta_pos s f e0 (all_units n) ltac:(lra)) as EP.
  pose proof (eta_le s f e0 L (all_units n) L0 LU) as EL.
  destruct (top_of e s ts) as [E|] eqn:T.
  2: { destruct (all_zero e s f ts z O T S) as [-> ->]. rewrite Rminus_0_r, Rabs_R0. nra. }
  destruct (with_top e s f ts z E F K Nn P T S) as [La [Xs [Mg [y [Y Vy]]]]]. rewrite <- Vy, <- Xs.
  set (s' := with_zero s (ZeroAt E)) in *. set (ts' := ts ++ [zero_at E]) in *.
  assert (Un : unit_of s' ts' = (E - f)%Z) by (unfold unit_of; cbn [fraction_bits s' with_zero]; rewrite F; fold s'; now rewrite La).
  assert (Cl : Rabs (IZR (zsum (counts s' ts')) * bp (E - f) - exact_sum ts') <= Rsum (map (loss (alignment s) (E - f)) ts)).
  { pose proof (cut_losses s' ts') as CL. cbv zeta in CL. rewrite Un in CL. eapply Rle_trans; [exact CL|]. unfold ts'. rewrite map_app, Rsum_app. cbn [map Rsum fold_right].
    change (alignment s') with (alignment s). rewrite (loss_zero _ _ (zero_at E)) by reflexivity. lra. }
  assert (Ex' : exact_total s' ts') by (apply no_carry_exact; exact K).
  destruct (top_term e s f us x E O G Fu Fx T) as [q [Hq [Lq Q]]]. destruct Q as [Q|[Eq Q]].
  - (* the exponent of zeros *)
    unfold zero_low in Ze. rewrite Q in Ze. destruct (alignment s) eqn:Al; try easy. apply Z.leb_le in Ze.
    assert (R : Rabs (V y - exact_sum ts') <= kappa s' f L * magnitude ts' + eta s' f e0 (all_units n)).
    { apply (sum_tiny s' f ts' E e0 y (all_units n) L); auto; [lia|lra|]. eapply Rle_trans; [exact Cl|]. now apply all_losses. }
    change (kappa s' f L) with (kappa s f L) in R. change (eta s' f e0 (all_units n)) with (eta s f e0 (all_units n)) in R. rewrite Mg in R.
    pose proof (Rmult_le_compat_l _ _ _ KP MA). lra.
  - assert (B : bp E <= A \/ (E <= e0)%Z).
    { rewrite <- Eq. destruct Q as [[Iq Zq]|[-> Zq]].
      - left. apply LA; auto. destruct (is_zero q); auto. right. rewrite Eq. auto.
      - destruct (Fl Zq) as [B|B]; auto. left. eapply Rle_trans; [exact B|]. eapply Rle_trans; [|exact MA]. apply magnitude_in. apply in_or_app. right. now left. }
    assert (R : Rabs (V y - exact_sum ts') <= kappa s' f L * A + eta s' f e0 L).
    { apply (sum_within s' f ts' E e0 y L A); auto; [rewrite Mg; exact MA|]. eapply Rle_trans; [exact Cl|]. unfold L.
      destruct (is_zero x) eqn:Zx; [|now apply losses_lossy with q].
      destruct Q as [[Iq _]|[_ Q]]; [|congruence].
      eapply Rle_trans; [apply (losses_alone (alignment s) (E - f) 1 us x q ltac:(lra)); auto|].
      - apply Forall_forall. intros r _. apply lossy_whole.
      - apply Rmult_le_compat_r; [apply bpow_ge_0|]. unfold units_alone. apply Rmult_le_compat_l; [lra|]. apply IZR_le. lia. }
    change (kappa s' f L) with (kappa s f L) in R. change (eta s' f e0 L) with (eta s f e0 L) in R. lra.
Qed.

(** In terms of the largest exponent. *)
Theorem grouped_exponents e s f n us x z E : grouped_sum s f = true -> (1 <= n)%Z -> (Z.of_nat (length us) <= n)%Z ->
  of_group e us -> Forall (settled f) us -> settled f x -> (emin (out s) <= E)%Z -> (is_zero x = false -> (exp x <= E)%Z) ->
  (forall y, In y us -> is_zero y = false \/ e = Some (exp y) -> (exp y <= E)%Z) ->
  add_from e (Stage s) (map Num us ++ [Num x]) = Num z ->
  Rabs (V z - exact_sum (us ++ [x])) <= IZR n * bp (E - f) + ulps (out s) * Rulp (out s) (V z).
Proof.
  intros O N1 Ln G Fu Fx Em Ex Eu H. destruct (grouped_sum_parts s f O) as [P [K [Nn [F [F0 [Pf [M Ze]]]]]]].
  change [Num x] with (map Num [x]) in H. rewrite <- map_app in H. pose proof (from_terms e s f _ z F H) as S.
  set (ts := us ++ [x]) in *. assert (n1 : 1 <= IZR n) by (apply IZR_le; lia).
  assert (U0 : 0 <= ulps (out s) * Rulp (out s) (V z)).
  { apply Rmult_le_pos; [unfold ulps; destruct (nearest _); lra|]. apply ulp_ge_0. }
  destruct (top_of e s ts) as [t|] eqn:T.
  2: { destruct (all_zero e s f ts z O T S) as [Vz ->]. rewrite Rminus_0_r, Vz, Rabs_R0. rewrite <- Vz. pose proof (bpow_ge_0 radix2 (E - f)). nra. }
  destruct (top_term e s f us x t O G Fu Fx T) as [q [Hq [Lq Q]]].
  assert (tE : (t <= E)%Z).
  { destruct Q as [Q|[Eq [[Iq Zq]|[-> Zq]]]].
    - unfold zero_low in Ze. rewrite Q in Ze. destruct (alignment s); try easy. lia.
    - rewrite <- Eq. apply Eu; auto. destruct (is_zero q); auto. right. rewrite Eq. auto.
    - rewrite <- Eq. auto. }
  unfold sum_at, held in S. rewrite K in S. cbn [round_to] in S. pose proof (convert_num _ _ _ _ _ P S) as C.
  set (X := IZR (zsum (map (cut (alignment s) (t - f)) ts)) * bp (t - f)) in *.
  pose proof (cut_losses_at (alignment s) (t - f) ts) as Cl. fold X in Cl.
  pose proof (losses_lossy (alignment s) (t - f) us x q Hq Lq n N1 Ln) as Ll. fold ts in Ll.
  assert (Un : units 1 n = IZR n).
  { unfold units. assert (IZR (Z.max (n - 1) 0) = IZR n - 1) by (rewrite <- minus_IZR; f_equal; lia). lra. }
  assert (Lo : units 1 n * bp (t - f) <= IZR n * bp (E - f)).
  { rewrite Un. apply Rmult_le_compat_l; [lra|]. apply bpow_le. lia. }
  pose proof (rounding_ulps (out s) X (plain_p _ P)) as R. rewrite <- C in R.
  replace (V z - exact_sum ts) with ((V z - X) + (X - exact_sum ts)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(** * The terms of a block *)

(** The same design without scales: what is known of its products. *)
Definition unscaled (d : design) : design :=
  {| a_format := a_format d; b_format := b_format d; c_format := c_format d; d_format := d_format d; scales := None;
     converted := converted d; factors := factors d; cutting_of := cutting_of d; block := block d; odd_first := odd_first d;
     skips := skips d; c_rule := c_rule d; sums := sums d; nan_word := nan_word d; nans := nans d; composed := composed d |}.
Definition unscaled_element (x : element) : element := {| index := index x; a_word := a_word x; b_word := b_word x; scaled_by := [] |}.

Definition groups_of (size : nat) (b : list element) : list (list element) := cut_list (length b) size b.

(** Elements that share their scales. *)
Definition one_scale (g : list element) : Prop := Forall (fun x => scaled_by x = scales_of g) g.

(** Products of a group have no more fraction bits than f with their scales, and exponents of 0 and more. *)
Definition grouped_ok (d : design) (f : Z) : bool :=
  match sums d, cutting_of d, scales d, term_facts (unscaled d) with
  | OneSum (Stage s), Groups size, Some (g, n), Some t =>
      grouped_sum s f && format_ok g && (0 <=? bits t)%Z && (0 <=? low t)%Z && (bits t + 2 * fbits g <=? f)%Z &&
      (0 <? size)%nat && (n mod size =? 0)%nat && (block d mod size =? 0)%nat && (0 <? block d)%nat && format_ok (c_format d) &&
      match product_limit (factors d), c_rule d, composed d with None, Kept, None => true | _, _, _ => false end && negb (odd_first d) && negb (skips d)
  | _, _, _, _ => false
  end.

Lemma scaled_in_turn q a b k ss : product_limit q = None -> product_rounding q = None ->
  scaled_product q a b k ss = fold_left product ss (scaled_product q a b k []).
Proof.
  intros L R. unfold scaled_product. cbv zeta. rewrite L, R. cbn [fold_left].
  destruct (if subtracted q k then _ else _); destruct (fold_left product ss _); reflexivity.
Qed.

Lemma signed_sum m n ts ns e k : signed {| neg := sign_of m n ts ns; sig := Z.abs n; exp := e; frac := k |} = n.
Proof.
  unfold signed. cbn [neg sig]. unfold sign_of. destruct (Z.eqb_spec n 0) as [->|Z0]; cbn [negb].
  - match goal with |- (if ?c then _ else _) = _ => destruct c end; reflexivity.
  - destruct (Z.ltb_spec n 0); lia.
Qed.

Lemma least_lsb_least ts l : ts <> [] -> Forall (fun x => (l <= lsb x)%Z) ts -> (l <= least_lsb ts)%Z.
Proof.
  intros N F. destruct F as [|x r Hx F]; [congruence|]. cbn. induction F as [|y r Hy F IH]; cbn; [exact Hx|].
  assert ((l <= fold_right Z.min (lsb x) (map lsb r))%Z) by (apply IH; discriminate). lia.
Qed.

Lemma cut_lossless u ts : lossless u ts -> IZR (zsum (map (cut RZ u) ts)) * bp u = exact_sum ts.
Proof.
  unfold lossless, exact_sum. induction 1 as [|x r Hx F IH]; cbn [map]; [cbn; ring|]. change (zsum (?a :: ?l)) with (a + zsum l)%Z.
  rewrite Rsum_cons, plus_IZR, Rmult_plus_distr_r, IH, cut_ok, fix_rnd_exact by exact Hx. reflexivity.
Qed.

Section Groups.
Variables (d : design) (f : Z) (s : sum) (size n : nat) (g : format) (t : facts).
Hypothesis (Sd : sums d = OneSum (Stage s)) (Cd : cutting_of d = Groups size) (Gd : scales d = Some (g, n)) (Td : term_facts (unscaled d) = Some t)
  (O : grouped_ok d f = true).

Lemma grouped_parts : grouped_sum s f = true /\ format_ok g = true /\ (0 <= bits t)%Z /\ (0 <= low t)%Z /\ (bits t + 2 * fbits g <= f)%Z /\
  (bits t - low t + 2 * fbits g <= f)%Z /\ (0 < size)%nat /\ (n mod size = 0)%nat /\ (block d mod size = 0)%nat /\ (0 < block d)%nat /\
  format_ok (c_format d) = true /\ product_limit (factors d) = None /\ c_rule d = Kept /\ odd_first d = false /\ skips d = false /\
  zero_terms (factors d) = None /\ product_rounding (factors d) = None /\ composed d = None.
Proof.
  pose proof O as Q. unfold grouped_ok in Q. rewrite Sd, Cd, Gd, Td in Q. repeat rewrite andb_true_iff in Q.
  destruct Q as [[[[[[[[[[[[Q1 Q2] Q3] Q4] Q5] Q7] Q8] Q9] Q10] Q11] Q12] Q13] Q14].
  apply Z.leb_le in Q3, Q4, Q5. apply Nat.ltb_lt in Q7, Q10. apply Nat.eqb_eq in Q8, Q9. apply negb_true_iff in Q13, Q14.
  destruct (product_limit (factors d)); [easy|]. destruct (c_rule d); try easy. destruct (composed d); [easy|].
  assert (R : zero_terms (factors d) = None /\ product_rounding (factors d) = None).
  { pose proof Td as T. unfold term_facts in T. cbn [factors unscaled] in T. destruct (zero_terms (factors d)), (product_rounding (factors d)); rewrite ?andb_false_r in T; try discriminate T. auto. }
  destruct R. repeat split; auto. lia.
Qed.

Definition product_of (x : element) : val := scaled_product (factors d) (a_of d x) (b_of d x) (index x) [].

Lemma term_scaled x : term d x = fold_left product (scaled_by x) (product_of x).
Proof. unfold term, product_of. apply scaled_in_turn; apply grouped_parts. Qed.

Lemma product_fit x y : product_of x = Num y -> has t y /\ (leading_element d x -> normal y).
Proof.
  intros E. destruct grouped_parts as [_ [_ [B0 _]]].
  assert (M : made_by (unscaled d) (unscaled_element x)) by reflexivity.
  split; [exact (scaled_has (unscaled d) t (unscaled_element x) Td M y E)|]. intros [La [Lb _]].
  assert (Le : leading_element (unscaled d) (unscaled_element x)) by (split; [exact La|split; [exact Lb|constructor]]).
  apply (term_fit (unscaled d) t (bits t) (low t) 4096 RZ (unscaled_element x) Td M Le ltac:(lia) B0 ltac:(lia) eq_refl y E).
Qed.

Definition group_sum (k : list element) : val * option Z := group_term (rounding_mode (stage_rounding (Stage s))) (map product_of k) (scales_of k).

Lemma block_groups b v : block_value d v b =
  add_from (omax_list (map snd (map group_sum (groups_of size b)))) (Stage s) (map fst (map group_sum (groups_of size b)) ++ [v]).
Proof.
  destruct grouped_parts as [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [Ck [Od [Sk [Zt _]]]]]]]]]]]]]]]].
  unfold block_value, skipped, ordered. rewrite Sk, Od, taken_kept, Ck, flush_kept by exact Zt. cbn [andb]. unfold terms. rewrite Cd, Sd. cbn [fst snd block_sum].
  reflexivity.
Qed.

(** A group's term is the sum of its products, with the exponent of its scales, beside which it has no more than f fraction bits. *)
Lemma group_number k y : k <> [] -> Forall (made_by d) k -> one_scale k -> fst (group_sum k) = Num y ->
  settled f y /\ V y = Rsum (map (term_value d) k) /\
  (is_zero y = false \/ snd (group_sum k) <> None ->
     (exists x z r q, In x k /\ term d x = Num z /\ is_zero z = false /\ scaled_by x = [Num r; Num q] /\ exp y = (exp r + exp q)%Z) /\
     (Forall (leading_element d) k -> bp (exp y) <= Rsum (map (fun x => Rabs (term_value d x)) k))) /\
  (forall q, snd (group_sum k) = Some q -> is_zero y = true /\ exp y = q).
Proof.
  intros Nk Mk Sk H. destruct grouped_parts as [_ [Og [B0 [L0 [Bf [Bl _]]]]]].
  destruct k as [|x0 k0] eqn:Ek; [congruence|]. rewrite <- Ek in *.
  assert (M0 : made_by d x0) by (rewrite Ek in Mk; now inversion Mk). unfold made_by in M0. rewrite Gd in M0. destruct M0 as [wa [wb M0]].
  assert (Ss : scales_of k = [decode g wa; decode g wb]) by (rewrite Ek; exact M0).
  unfold group_sum, group_term in H |- *. rewrite Ss in *. cbn [fold_left] in *. set (m := rounding_mode _) in *.
  destruct (numbers (map product_of k)) as [ts|] eqn:Nu.
  2: { exfalso. destruct (special_sum (map product_of k)) eqn:Sp; [now apply (special_not_num _ _ Sp)| |]; cbn [fst] in H; apply product_num in H; destruct H as [y1 [y2 [H _]]];
       apply product_num in H; destruct H as [y3 [y4 [H _]]]; discriminate H. }
  set (u := least_lsb ts) in *. set (N := zsum (map (cut RZ u) ts)) in *.
  set (o := {| neg := sign_of m N ts (map (cut RZ u) ts); sig := Z.abs N; exp := 0; frac := - u |}) in *.
  assert (F : product (product (Num o) (decode g wa)) (decode g wb) = Num y).
  { destruct (product (product (Num o) (decode g wa)) (decode g wb)); exact H. }
  rewrite F in *. clear H. apply product_num in F. destruct F as [o1 [r2 [F [D2 Ey]]]]. apply product_num in F. destruct F as [o2 [r1 [F [D1 Eo]]]]. injection F as <-.
  assert (Vo : V o = exact_sum ts).
  { assert (So : signed o = N) by apply signed_sum.
    assert (Lo : lsb o = u) by (unfold lsb, o; cbn; lia). unfold V. rewrite So, Lo. unfold N. apply cut_lossless. unfold lossless. apply Forall_forall. intros z Hz _. unfold u. now apply least_lsb_le. }
  apply numbers_inv in Nu.
  assert (Tn : forall x, In x k -> exists z, product_of x = Num z /\ In z ts).
  { intros x Hx. assert (I : In (product_of x) (map Num ts)) by (rewrite <- Nu; now apply in_map). apply in_map_iff in I. destruct I as [z [Ez Hz]]. eauto. }
  assert (Nt : forall z, In z ts -> exists x, In x k /\ product_of x = Num z).
  { intros z Hz. assert (I : In (Num z) (map product_of k)) by (rewrite Nu; now apply in_map). apply in_map_iff in I. destruct I as [x [Ex Hx]]. eauto. }
  unfold one_scale in Sk. rewrite Forall_forall in Sk.
  assert (Ft : forall z, In z ts -> has t z) by (intros z Hz; destruct (Nt z Hz) as [x [Hx Ex]]; apply (product_fit x z Ex)).
  destruct (decode_num _ _ _ Og D1) as [S1 [F1 _]]. destruct (decode_num _ _ _ Og D2) as [S2 [F2 _]].
  assert (Tx : forall x z, In x k -> product_of x = Num z -> term d x = Num (times (times z r1) r2)).
  { intros x z Hx Ex. rewrite term_scaled, Ex, (Sk x Hx), Ss. cbn [fold_left]. rewrite D1, D2. reflexivity. }
  assert (Tv : forall x z, In x k -> product_of x = Num z -> term_value d x = V z * V r1 * V r2).
  { intros x z Hx Ex. unfold term_value. rewrite (Tx x z Hx Ex). cbn [num_of]. now rewrite !V_times. }
  assert (Ee : exp y = (exp r1 + exp r2)%Z) by (subst y o1; unfold o; cbn [times exp]; lia).
  assert (Vy : V y = exact_sum ts * V r1 * V r2) by (subst y o1; now rewrite !V_times, Vo).
  assert (Nts : ts <> []) by (intros ->; rewrite Ek in Nu; discriminate Nu).
  split; [|split; [|split]].
  - apply short_settled. assert (Fy : frac y = (- u + fbits g + fbits g)%Z) by (subst y o1; cbn [times frac]; rewrite F1, F2; unfold o; cbn [frac]; lia).
    assert (low t - bits t <= u)%Z; [|lia]. apply least_lsb_least; auto. apply Forall_forall. intros z Hz. destruct (Ft z Hz) as [_ [Q1 Q2]]. unfold lsb. lia.
  - rewrite Vy. clear -Nu Tv. revert ts Nu. induction k as [|x r IH]; intros ts Nu; destruct ts as [|z ts]; try discriminate Nu; [unfold exact_sum; cbn; ring|].
    cbn [map] in Nu. injection Nu as N0 Nu. cbn [map]. rewrite Rsum_cons, (Tv x z) by (auto; now left). rewrite <- (IH (fun x z Hx => Tv x z (or_intror Hx)) ts Nu).
    unfold exact_sum. cbn [map]. rewrite Rsum_cons. ring.
  - intros Li.
    assert (Lv : (exists z, In z ts /\ is_zero z = false) /\ is_zero r1 = false /\ is_zero r2 = false).
    { destruct Li as [Zy|Li].
      - assert (Q : V y <> 0).
        { intros Q. unfold is_zero in Zy. apply Z.eqb_neq in Zy. apply Zy. unfold V, signed in Q. pose proof (bpow_gt_0 radix2 (lsb y)).
          apply Rmult_integral in Q. destruct Q as [Q|Q]; [|lra]. apply eq_IZR in Q. destruct (neg y); lia. }
        rewrite Vy in Q. assert (Z1 : is_zero r1 = false) by (destruct (is_zero r1) eqn:Z1; auto; rewrite (V_zero r1 Z1) in Q; lra).
        assert (Z2 : is_zero r2 = false) by (destruct (is_zero r2) eqn:Z2; auto; rewrite (V_zero r2 Z2) in Q; lra). split; auto.
        destruct (forallb is_zero ts) eqn:Az.
        + exfalso. apply Q. assert (X0 : exact_sum ts = 0); [|rewrite X0; ring]. unfold exact_sum. rewrite (Rsum_ext V (fun _ => 0)) by (intros z Hz; apply V_zero; rewrite forallb_forall in Az; auto).
          clear. induction ts; cbn; [reflexivity|]. unfold Rsum in *. lra.
        + clear -Az. induction ts as [|a r IH]; cbn in *; [easy|]. destruct (is_zero a) eqn:Q; cbn in *; [destruct IH as [q [? ?]]; auto; exists q; auto|exists a; auto].
      - cbn [snd] in Li. rewrite D1, D2 in Li. cbn [forallb] in Li.
        match type of Li with (if ?c then _ else _) <> None => destruct c eqn:C; [|congruence] end. repeat rewrite andb_true_iff in C. destruct C as [[_ C1] [C2 [C3 _]]].
        apply negb_true_iff in C2, C3. split; auto. apply existsb_exists in C1. destruct C1 as [v [Hv Lv]]. rewrite Nu in Hv. apply in_map_iff in Hv. destruct Hv as [z [<- Hz]].
        exists z. split; auto. now apply negb_true_iff. }
    destruct Lv as [[z [Hz Zz]] [Z1 Z2]]. destruct (Nt z Hz) as [x [Hx Ex]]. split.
    + exists x, (times (times z r1) r2), r1, r2. split; auto. split; [now apply Tx|]. split; [|rewrite (Sk x Hx), Ss, D1, D2; auto].
      unfold is_zero in *. cbn [times sig]. apply Z.eqb_neq in Zz, Z1, Z2. apply Z.eqb_neq. nia.
    + intros Lk. rewrite Forall_forall in Lk.
      assert (Lr : leading r1 /\ leading r2).
      { destruct (Lk x Hx) as [_ [_ Ls]]. rewrite (Sk x Hx), Ss in Ls. inversion Ls as [|? ? L1 Ls']; subst. inversion Ls' as [|? ? L2 _]; subst. split; auto. }
      destruct Lr as [Lr1 Lr2]. pose proof (leading_normal r1 ltac:(lia) Lr1 Z1) as N1. pose proof (leading_normal r2 ltac:(lia) Lr2 Z2) as N2.
      assert (Q : bp (exp y) <= Rabs (term_value d x)).
      { rewrite (Tv x z Hx Ex), Ee, bpow_plus, !Rabs_mult. destruct (product_fit x z Ex) as [[_ [_ Lz]] Nz]. specialize (Nz (Lk x Hx) Zz).
        assert (P0 : 1 <= Rabs (V z)) by (eapply Rle_trans; [|exact Nz]; change 1 with (bp 0); apply bpow_le; lia).
        pose proof (bpow_gt_0 radix2 (exp r1)). pose proof (bpow_gt_0 radix2 (exp r2)).
        apply Rle_trans with (1 * bp (exp r1) * bp (exp r2)); [lra|]. apply Rmult_le_compat; try lra. apply Rmult_le_compat; lra. }
      eapply Rle_trans; [exact Q|]. clear -Hx. induction k as [|a r IH]; [easy|]. cbn [map]. rewrite Rsum_cons.
      assert (R0 : 0 <= Rsum (map (fun x => Rabs (term_value d x)) r)) by (apply Rsum_nonneg; intros; apply Rabs_pos). pose proof (Rabs_pos (term_value d a)).
      destruct Hx as [->|Hx]; [lra|]. specialize (IH Hx). lra.
  - intros q Q. cbn [snd] in Q. match type of Q with (if ?c then _ else _) = _ => destruct c eqn:C; [|congruence] end. injection Q as <-. split; [|reflexivity].
    repeat rewrite andb_true_iff in C. destruct C as [[C _] _]. subst y o1. unfold is_zero in *. cbn [times sig]. apply Z.eqb_eq in C. rewrite C. reflexivity.
Qed.

(** ** A block *)

Lemma Rsum_in {A} (h : A -> R) l a : (forall x, 0 <= h x) -> In a l -> h a <= Rsum (map h l).
Proof.
  intros P. induction l as [|x r IH]; [easy|]. cbn [map]. rewrite Rsum_cons. intros [->|I].
  - assert (0 <= Rsum (map h r)) by (apply Rsum_nonneg; intros; apply P). lra.
  - specialize (IH I). pose proof (P x). lra.
Qed.

Lemma sum_magnitude (k : list element) : Rabs (Rsum (map (term_value d) k)) <= Rsum (map (fun x => Rabs (term_value d x)) k).
Proof. induction k as [|a r IH]; cbn [map]; [cbn; rewrite Rabs_R0; lra|]. rewrite !Rsum_cons. eapply Rle_trans; [apply Rabs_triang|]. lra. Qed.

Lemma omax_list_in l q : omax_list l = Some q -> In (Some q) l.
Proof.
  revert q. unfold omax_list. induction l as [|o r IH]; intros q H; [discriminate|]. cbn in H. destruct o as [a|].
  - destruct (fold_right omax None r) as [b|] eqn:E; cbn in H; injection H as <-; [|now left].
    destruct (Z.max_spec a b) as [[_ ->]|[_ ->]]; [right; now apply IH|now left].
  - right. apply IH. now rewrite <- H.
Qed.

Lemma cut_count {A} m : (0 < m)%nat -> forall j (l : list A) B, (length l <= B * m)%nat -> (length (cut_list j m l) <= B)%nat.
Proof.
  intros Hm. induction j as [|j IH]; intros [|x r] B L; cbn [cut_list length]; try lia. destruct B as [|B]; [cbn [length] in L; lia|].
  change (firstn m (x :: r) :: cut_list j m (skipn m (x :: r))) with (firstn m (x :: r) :: cut_list j m (skipn m (x :: r))).
  assert (length (cut_list j m (skipn m (x :: r))) <= B)%nat; [|lia]. apply IH. rewrite skipn_length. cbn [length Nat.mul] in *. lia.
Qed.

Lemma cut_parts {A} m : (0 < m)%nat -> forall j (l : list A) c, In c (cut_list j m l) -> c <> [] /\ incl c l.
Proof.
  intros Hm. induction j as [|j IH]; intros [|x r] c H; try easy. destruct H as [<-|H].
  - split; [destruct m; [lia|discriminate]|]. intros y Hy. rewrite <- (firstn_skipn m (x :: r)). apply in_or_app. now left.
  - destruct (IH _ _ H) as [N I]. split; auto. intros y Hy. rewrite <- (firstn_skipn m (x :: r)). apply in_or_app. right. now apply I.
Qed.

Definition group_block (b : list element) : Prop := (length b <= block d)%nat /\ Forall (made_by d) b /\ Forall one_scale (groups_of size b).

Lemma group_terms b v z : group_block b -> block_value d v b = Num z -> exists us x e,
  v = Num x /\ add_from e (Stage s) (map Num us ++ [Num x]) = Num z /\ (length us <= block d / size)%nat /\ Forall (settled f) us /\ of_group e us /\
  exact_sum us = Rsum (map (term_value d) b) /\ magnitude us <= Rsum (map (fun x => Rabs (term_value d x)) b) /\
  forall y, In y us -> is_zero y = false \/ e = Some (exp y) ->
    (exists x z r q, In x b /\ term d x = Num z /\ is_zero z = false /\ scaled_by x = [Num r; Num q] /\ exp y = (exp r + exp q)%Z) /\
    (Forall (leading_element d) b -> bp (exp y) <= Rsum (map (fun x => Rabs (term_value d x)) b)).
Proof.
  intros [Lb [Mb Ob]] H. rewrite block_groups in H. destruct grouped_parts as [Gs [_ [_ [_ [_ [_ [Sz [_ [Bz _]]]]]]]]].
  set (ks := groups_of size b) in *. set (e := omax_list (map snd (map group_sum ks))) in *. exists (map (fun k => num_of (fst (group_sum k))) ks).
  destruct (from_numbers e s _ z H) as [ts Et]. pose proof (numbers_map ts) as Nt. rewrite <- Et in Nt.
  destruct (numbers_app _ _ _ Nt) as [us [x [_ [Ex Eu]]]]. exists x, e. split; [exact Ex|].
  assert (Nk : forall k, In k ks -> exists y, fst (group_sum k) = Num y).
  { intros k Hk. assert (I : In (fst (group_sum k)) (map Num us)) by (rewrite <- Eu; now apply in_map, in_map). apply in_map_iff in I. destruct I as [y [Ey _]]. eauto. }
  assert (Pk : forall k, In k ks -> k <> [] /\ incl k b) by (intros k Hk; now apply (cut_parts size Sz (length b))).
  rewrite Forall_forall in Mb, Ob.
  assert (Gk : forall k, In k ks -> exists y, fst (group_sum k) = Num y /\ num_of (fst (group_sum k)) = y /\ settled f y /\ V y = Rsum (map (term_value d) k) /\
    (is_zero y = false \/ snd (group_sum k) <> None ->
       (exists x z r q, In x k /\ term d x = Num z /\ is_zero z = false /\ scaled_by x = [Num r; Num q] /\ exp y = (exp r + exp q)%Z) /\
       (Forall (leading_element d) k -> bp (exp y) <= Rsum (map (fun x => Rabs (term_value d x)) k))) /\
    (forall q, snd (group_sum k) = Some q -> is_zero y = true /\ exp y = q)).
  { intros k Hk. destruct (Nk k Hk) as [y Ey]. destruct (Pk k Hk) as [P1 P2]. exists y. split; [exact Ey|]. split; [now rewrite Ey|].
    apply group_number; auto. apply Forall_forall. auto. }
  assert (Part : forall k, In k ks -> Rsum (map (fun x => Rabs (term_value d x)) k) <= Rsum (map (fun x => Rabs (term_value d x)) b)).
  { intros k Hk. rewrite <- (cut_list_sum (fun x => Rabs (term_value d x)) size Sz (length b) b (Nat.le_refl _)).
    apply (Rsum_in (fun k => Rsum (map (fun x => Rabs (term_value d x)) k))); [|exact Hk]. intros. apply Rsum_nonneg. intros. apply Rabs_pos. }
  split; [|split; [|split; [|split; [|split; [|split]]]]].
  - rewrite <- H, Ex. f_equal. f_equal. rewrite !map_map. apply map_ext_in. intros k Hk. destruct (Nk k Hk) as [y Ey]. now rewrite Ey.
  - rewrite map_length. apply cut_count; auto. apply Nat.div_exact in Bz; [|lia]. lia.
  - apply Forall_forall. intros y Hy. apply in_map_iff in Hy. destruct Hy as [k [<- Hk]]. destruct (Gk k Hk) as [y [_ [-> [Q _]]]]. exact Q.
  - intros q Eq. unfold e in Eq. apply omax_list_in in Eq. rewrite map_map in Eq. apply in_map_iff in Eq. destruct Eq as [k [Ek Hk]].
    destruct (Gk k Hk) as [y [_ [Ny [_ [_ [_ Q]]]]]]. destruct (Q q Ek) as [Q1 Q2]. exists y. split; [|auto]. rewrite <- Ny. now apply in_map_iff; exists k.
  - unfold exact_sum. rewrite map_map, <- (cut_list_sum (term_value d) size Sz (length b) b (Nat.le_refl _)). apply Rsum_ext.
    intros k Hk. destruct (Gk k Hk) as [y [_ [-> [_ [-> _]]]]]. reflexivity.
  - unfold magnitude. rewrite map_map, <- (cut_list_sum (fun x => Rabs (term_value d x)) size Sz (length b) b (Nat.le_refl _)).
    fold (groups_of size b). fold ks. clear -Gk. induction ks as [|k r IH]; [cbn; lra|]. cbn [map]. rewrite !Rsum_cons.
    assert (Hr : forall k', In k' r -> In k' (k :: r)) by (intros; now right). specialize (IH (fun k' Hk' => Gk k' (Hr k' Hk'))).
    destruct (Gk k (or_introl eq_refl)) as [y [_ [-> [_ [-> _]]]]]. pose proof (sum_magnitude k). lra.
  - intros y Hy Li.
    assert (Lk : exists k y', In k ks /\ num_of (fst (group_sum k)) = y' /\ exp y' = exp y /\ (is_zero y' = false \/ snd (group_sum k) <> None)).
    { destruct Li as [Li|Li].
      - apply in_map_iff in Hy. destruct Hy as [k [<- Hk]]. exists k, (num_of (fst (group_sum k))). auto.
      - unfold e in Li. apply omax_list_in in Li. rewrite map_map in Li. apply in_map_iff in Li. destruct Li as [k [Ek Hk]].
        destruct (Gk k Hk) as [y' [_ [Ny [_ [_ [_ Q]]]]]]. destruct (Q _ Ek) as [_ Q2]. exists k, y'. rewrite Ek. split; auto. split; auto. split; auto. right. discriminate. }
    destruct Lk as [k [y' [Hk [Ny [Ey Lv]]]]]. destruct (Gk k Hk) as [y1 [_ [Ny1 [_ [_ [Q _]]]]]]. rewrite Ny1 in Ny. subst y1.
    destruct (Q Lv) as [[x' [z' [r [q [Hx' R]]]]] Q2]. destruct (Pk k Hk) as [_ P2]. rewrite <- Ey. split.
    + exists x', z', r, q. split; [now apply P2|exact R].
    + intros Le. eapply Rle_trans; [apply Q2|now apply Part]. rewrite Forall_forall in *. auto.
Qed.

(** ** Words: the groups of all blocks share their scales *)

Lemma numbered_cut {A} m : forall j i (l : list A) c, In c (cut_list j m (numbered i l)) -> exists r l', c = numbered (i + r * m) l' /\ (length l' <= m)%nat.
Proof.
  assert (Fn : forall m i (l : list A), firstn m (numbered i l) = numbered i (firstn m l)).
  { induction m0 as [|k IH]; intros i [|x r]; cbn; try reflexivity. now rewrite IH. }
  assert (Sn : forall m i (l : list A), skipn m (numbered i l) = numbered (i + m) (skipn m l)).
  { induction m0 as [|k IH]; intros i [|x r]; cbn; rewrite ?Nat.add_0_r; try reflexivity. now rewrite IH, <- Nat.add_succ_comm. }
  induction j as [|j IH]; intros i l c H; [easy|]. destruct l as [|a l]; [easy|].
  change (cut_list (S j) m (numbered i (a :: l))) with (firstn m (numbered i (a :: l)) :: cut_list j m (skipn m (numbered i (a :: l)))) in H. destruct H as [<-|H].
  - exists 0%nat, (firstn m (a :: l)). rewrite Fn. split; [f_equal; lia|apply firstn_le_length].
  - rewrite Sn in H. destruct (IH _ _ _ H) as [r [l' [-> L]]]. exists (S r), l'. split; auto. f_equal. cbn. lia.
Qed.

Lemma words_in_groups w : Forall group_block (blocks_of_word d w).
Proof.
  destruct grouped_parts as [_ [_ [_ [_ [_ [_ [Sz [Nz [Bz [Bn _]]]]]]]]]].
  pose proof (cut_list_blocks (made_by d) (block d) Bn (length (elements d w)) _ (elements_made d w)) as B.
  apply Forall_forall. intros b Hb. rewrite Forall_forall in B. destruct (B b Hb) as [B1 B2]. split; auto. split; auto.
  unfold blocks_of_word, elements in Hb. rewrite cut_list_map in Hb. apply in_map_iff in Hb. destruct Hb as [c [<- Hc]].
  destruct (numbered_cut _ _ _ _ _ Hc) as [r [l [-> Ll]]]. rewrite Nat.add_0_l in *.
  unfold groups_of. rewrite cut_list_map. apply Forall_forall. intros k Hk. apply in_map_iff in Hk. destruct Hk as [c' [<- Hc']].
  destruct (numbered_cut _ _ _ _ _ Hc') as [r' [l' [-> Ll']]].
  apply Nat.div_exact in Bz, Nz; try lia. set (q := (block d / size)%nat) in *. set (qn := (n / size)%nat) in *. rewrite Gd.
  replace (r * block d + r' * size)%nat with (size * (r * q + r'))%nat by nia. set (i0 := (r * q + r')%nat).
  assert (Same : forall k ab, In (k, ab) (numbered (size * i0) l') -> (k / n = i0 / qn)%nat).
  { intros k ab I. assert (Q : (size * i0 <= k < size * i0 + length l')%nat).
    { clear -I. revert I. generalize (size * i0)%nat as i. induction l' as [|a rest IH]; intros i I; [easy|]. destruct I as [I|I]; [injection I as <- _; cbn; lia|]. specialize (IH _ I). cbn. lia. }
    assert (Kq : (k / size = i0)%nat) by (symmetry; apply (Nat.div_unique k size i0 (k - size * i0)); lia).
    rewrite Nz. destruct (Nat.eq_dec qn 0) as [->|Q0]; [now rewrite Nat.mul_0_r|]. rewrite <- Nat.div_div by lia. now rewrite Kq. }
  unfold one_scale. apply Forall_forall. intros x Hx. apply in_map_iff in Hx. destruct Hx as [[k [a b]] [<- Hk]]. cbn [scaled_by].
  destruct l' as [|ab l']; [easy|]. cbn [numbered map scales_of] in *. destruct ab as [a' b']. cbn [scaled_by]. rewrite (Same _ _ Hk).
  rewrite (Same (size * i0)%nat (a', b')) by (now left). reflexivity.
Qed.

(** ** Any length *)

Let k := kappa s f (units 1 (Z.of_nat (block d / size))).
Let k0 := kappa s f (units_alone 1 (Z.of_nat (block d / size))).
Let h := eta s f (floor_of d s) (all_units (Z.of_nat (block d / size))).

Definition group_c (x : num) : Prop := settled f x /\ floored (floor_of d s) x.

Lemma groups_many : (1 <= Z.of_nat (block d / size))%Z.
Proof.
  destruct grouped_parts as [_ [_ [_ [_ [_ [_ [Sz [_ [Bz [Bn _]]]]]]]]]]. apply Nat.div_exact in Bz; [|lia].
  assert (block d / size <> 0)%nat; [|lia]. intros Q. rewrite Q in Bz. lia.
Qed.

Lemma group_step b x z : group_block b -> Forall (leading_element d) b -> group_c x -> block_value d (Num x) b = Num z ->
  group_c z /\ Rabs (V z - (V x + Rsum (map (term_value d) b))) <=
    (if is_zero x then k0 else k) * (Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) b)) + h.
Proof.
  intros Gb Le [Sx Fx] H. destruct grouped_parts as [Gs _]. destruct (group_terms b _ z Gb H) as [us [x' [e [Ex [A [Lu [Su [Oe [Es [Ms Li]]]]]]]]]]. injection Ex as <-.
  destruct (grouped_loss e s f (floor_of d s) (Z.of_nat (block d / size)) us x z (Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) b)) Gs) as [R1 [R2 R3]]; auto.
  - unfold floor_of. lia.
  - apply groups_many.
  - lia.
  - rewrite magnitude_snoc. lra.
  - intros y Hy Q. destruct (Li y Hy Q) as [_ B]. specialize (B Le). pose proof (Rabs_pos (V x)). lra.
  - split; [split; auto|]. rewrite exact_sum_snoc, Es in R1. replace (V x + Rsum (map (term_value d) b)) with (Rsum (map (term_value d) b) + V x) by ring.
    unfold k, k0, h. destruct (is_zero x); exact R1.
Qed.

Lemma constants_pos : 0 <= k /\ 0 <= k0 /\ 0 <= h /\ k0 <= k.
Proof.
  pose proof groups_many as G. assert (1 <= IZR (Z.of_nat (block d / size))) by (apply IZR_le; lia).
  assert (0 <= IZR (Z.max (Z.of_nat (block d / size) - 1) 0)) by (apply IZR_le; lia).
  assert (U0 : 0 <= units_alone 1 (Z.of_nat (block d / size))) by (unfold units_alone; lra).
  assert (U1 : units_alone 1 (Z.of_nat (block d / size)) <= units 1 (Z.of_nat (block d / size))) by (unfold units, units_alone; lra).
  split; [apply kappa_pos; lra|]. split; [apply kappa_pos; lra|]. split; [apply eta_pos; unfold all_units; lra|]. unfold k, k0, kappa.
  pose proof (bpow_ge_0 radix2 (- f)). pose proof (share_pos (out s)).
  assert (K : kept (out s) (units_alone 1 (Z.of_nat (block d / size))) <= kept (out s) (units 1 (Z.of_nat (block d / size)))).
  { unfold kept. destruct (nearest _); auto. apply Rle_max_compat_r. lra. }
  assert (W : growth (alignment s) f (units_alone 1 (Z.of_nat (block d / size))) <= growth (alignment s) f (units 1 (Z.of_nat (block d / size)))).
  { destruct (alignment s); cbn; try lra; apply Rmult_le_compat_r; lra. }
  apply Rplus_le_compat; [now apply Rmult_le_compat_r|]. apply Rmult_le_compat_l; lra.
Qed.

Lemma group_stays v b : is_num v = false -> is_num (block_value d v b) = false.
Proof.
  intros N. destruct (block_value d v b) as [z| |] eqn:E; auto. exfalso. rewrite block_groups in E. destruct (from_numbers _ s _ z E) as [ts Et].
  assert (I : In v (map Num ts)) by (rewrite <- Et; apply in_or_app; right; now left). apply in_map_iff in I. destruct I as [y [<- _]]. discriminate N.
Qed.

Definition leading_block (b : list element) : Prop := group_block b /\ Forall (leading_element d) b.

Lemma words_lead w : Forall (leading_element d) (elements d w) -> Forall leading_block (blocks_of_word d w) /\ concat (blocks_of_word d w) = elements d w.
Proof.
  intros Le. destruct grouped_parts as [_ [_ [_ [_ [_ [_ [_ [_ [_ [Bn _]]]]]]]]]].
  assert (Cc : concat (blocks_of_word d w) = elements d w) by (apply concat_cut; auto). split; [|exact Cc].
  pose proof (words_in_groups w) as G. apply Forall_forall. intros b Hb. rewrite Forall_forall in G. split; auto.
  rewrite <- Cc, Forall_forall in Le. apply Forall_forall. intros e He. apply Le. apply in_concat. eauto.
Qed.

Lemma group_start w x : composed d = None -> decode (c_format d) w = Num x -> settled f x -> group_c x.
Proof.
  intros Co D Sx. split; [exact Sx|]. destruct grouped_parts as [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ [Of _]]]]]]]]]]].
  destruct (decode_num _ _ _ Of D) as [A [B [C E]]]. pose proof (format_bits _ Of). intros Z. destruct E as [E|E].
  - left. apply leading_normal; [lia| |exact Z]. right. now rewrite B.
  - right. unfold floor_of, start_format. rewrite Co. lia.
Qed.

Lemma later_step b x z : leading_block b -> group_c x -> block_value d (Num x) b = Num z ->
  group_c z /\ Rabs (V z - (V x + Rsum (map (term_value d) b))) <= k * Rabs (V x) + k * Rsum (map (fun e => Rabs (term_value d e)) b) + h.
Proof.
  intros [Gb Le] Cx H. destruct (group_step b x z Gb Le Cx H) as [G R]. split; [exact G|]. destruct constants_pos as [K [K0 [H0 KK]]].
  assert (P : 0 <= Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) b)).
  { pose proof (Rabs_pos (V x)). assert (0 <= Rsum (map (fun e => Rabs (term_value d e)) b)) by (apply Rsum_nonneg; intros; apply Rabs_pos). lra. }
  destruct (is_zero x); [|lra]. pose proof (Rmult_le_compat_r _ _ _ P KK). lra.
Qed.

Lemma grouped_error w z x : decode (c_format d) (c_word w) = Num x -> settled f x ->
  Forall (leading_element d) (elements d w) -> value d w = Num z ->
  let m := length (blocks_of_word d w) in
  Rabs (V z - (V x + Rsum (map (term_value d) (elements d w)))) <=
    ((1 + k) ^ m - 1) * (Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) (elements d w))) + h * geometric k m.
Proof.
  intros Dc Sx Le Vz m. assert (Co : composed d = None) by apply grouped_parts. destruct (words_lead w Le) as [F Cc]. unfold value in Vz. rewrite Co, Dc in Vz.
  change (in_turn d (blocks_of_word d w) (Num x) = Num z) in Vz. destruct constants_pos as [K [K0 [H0 _]]].
  pose proof (blocks_grow d (term_value d) leading_block group_c k k h K H0 later_step (fun v b _ N => group_stays v b N) (blocks_of_word d w) x z
    (V x) (Rabs (V x)) 0 0 F (group_start _ x Co Dc Sx) ltac:(lra) ltac:(lra) ltac:(lra) (Rle_refl _)) as G.
  rewrite Rminus_eq_0, Rabs_R0 in G. specialize (G ltac:(lra) Vz). rewrite Cc in G. eapply Rle_trans; [exact G|]. apply Req_le. unfold m. ring.
Qed.

Lemma grouped_error_from_zero w z x : decode (c_format d) (c_word w) = Num x -> is_zero x = true ->
  Forall (leading_element d) (elements d w) -> value d w = Num z ->
  let m := Nat.pred (length (blocks_of_word d w)) in
  Rabs (V z - Rsum (map (term_value d) (elements d w))) <=
    ((1 + k0) * (1 + k) ^ m - 1) * Rsum (map (fun e => Rabs (term_value d e)) (elements d w)) + ((1 + k) ^ m * h + h * geometric k m).
Proof.
  intros Dc Zx Le Vz m. assert (Co : composed d = None) by apply grouped_parts. destruct (words_lead w Le) as [F Cc]. unfold value in Vz. rewrite Co, Dc in Vz.
  change (in_turn d (blocks_of_word d w) (Num x) = Num z) in Vz. destruct constants_pos as [K [K0 [H0 KK]]].
  pose proof (group_start _ x Co Dc (zero_settled f x Zx)) as Cx. unfold m. rewrite <- Cc. destruct (blocks_of_word d w) as [|b bs] eqn:Eb.
  - cbn in Vz. injection Vz as <-. cbn. rewrite (V_zero x Zx), Rminus_0_r, Rabs_R0. nra.
  - pose proof (blocks_grow_after d (term_value d) leading_block group_c k k h K H0 later_step (fun v b _ N => group_stays v b N) b bs x z 0 0 k0 h K0 H0) as G.
    rewrite !Rplus_0_l, Rabs_R0 in G. apply G; auto; [nra|lra|].
    intros y Hy. apply Forall_cons_iff in F. destruct F as [[Gb Lb] _]. destruct (group_step b x y Gb Lb Cx Hy) as [R1 R2]. split; [exact R1|].
    rewrite Zx, (V_zero x Zx), Rabs_R0, !Rplus_0_l in R2. exact R2.
Qed.

Lemma grouped_error_in_exponents w z x E : length (blocks_of_word d w) = 1%nat ->
  decode (c_format d) (c_word w) = Num x -> (fbits (c_format d) <=? f)%Z = true -> value d w = Num z -> (emin (out s) <= E)%Z ->
  (is_zero x = false -> (exp x <= E)%Z) ->
  (forall e y r q, In e (elements d w) -> term d e = Num y -> is_zero y = false -> scaled_by e = [Num r; Num q] -> (exp r + exp q <= E)%Z) ->
  Rabs (V z - (V x + Rsum (map (term_value d) (elements d w)))) <=
    IZR (Z.of_nat (block d / size)) * bp (E - f) + ulps (out s) * Rulp (out s) (V z).
Proof.
  intros One Dc Fc Vz Em Ex Et. assert (Co : composed d = None) by apply grouped_parts. destruct grouped_parts as [Gs [_ [_ [_ [_ [_ [_ [_ [_ [Bn [Of _]]]]]]]]]]].
  assert (Cc : concat (blocks_of_word d w) = elements d w) by (apply concat_cut; auto). pose proof (words_in_groups w) as G.
  unfold value in Vz. rewrite Co, Dc in Vz. change (in_turn d (blocks_of_word d w) (Num x) = Num z) in Vz.
  destruct (blocks_of_word d w) as [|b [|? ?]]; try discriminate One. cbn in Cc. rewrite app_nil_r in Cc. cbn in Vz. pose proof (Forall_inv G) as Gb.
  destruct (group_terms _ _ z Gb Vz) as [us [x' [e [Ex' [A [Lu [Su [Oe [Es [Ms Li]]]]]]]]]]. injection Ex' as <-. rewrite <- Cc in *.
  replace (V x + Rsum (map (term_value d) b)) with (exact_sum (us ++ [x])) by (rewrite exact_sum_snoc, Es; ring).
  apply (grouped_exponents e s f _ us x z E Gs groups_many); auto.
  - lia.
  - eapply format_settled; eauto.
  - intros y Hy Q. destruct (Li y Hy Q) as [[x1 [z1 [r [q [I1 [I2 [I3 [I4 ->]]]]]]]] _]. eapply Et; eauto.
Qed.
End Groups.

(** * From designs *)

(** The sum of a block's terms and c, whatever the terms are. *)
Definition fused_sum (d : design) : option sum := match sums d with OneSum (Stage s) | StickySum s => Some s | _ => None end.
Definition group_count (d : design) : nat := match cutting_of d with Groups size => (block d / size)%nat | _ => block d end.

Lemma grouped_inv d s f : fused_sum d = Some s -> grouped_ok d f = true -> exists size n g t, sums d = OneSum (Stage s) /\ cutting_of d = Groups size /\
  scales d = Some (g, n) /\ term_facts (unscaled d) = Some t /\ group_count d = (block d / size)%nat.
Proof.
  intros S O. unfold grouped_ok in O. unfold fused_sum in S. unfold group_count.
  destruct (sums d) as [[s'|]|s'| | | | | | |]; try discriminate S; [|discriminate O]. injection S as ->.
  destruct (cutting_of d) as [| |size]; [discriminate O|discriminate O|]. destruct (scales d) as [[g n]|]; [|discriminate O].
  destruct (term_facts (unscaled d)) as [t|]; [|discriminate O]. exists size, n, g, t. repeat split.
Qed.

Lemma whole_share : IZR 4096 * / 4096 = 1.
Proof. lra. Qed.

(** For all words whose factors and scales have leading bits, any c of at most f fraction bits and m blocks:
    |d - exact| <= ((1 + kappa)^m - 1) (|c| + Σ|terms|), and what counts only beside subnormal numbers. *)
Theorem error_of_groups d s f w z x : fused_sum d = Some s -> grouped_ok d f = true ->
  decode (c_format d) (c_word w) = Num x -> settled f x -> Forall (leading_element d) (elements d w) -> value d w = Num z ->
  let k := kappa s f (units (IZR 4096 * / 4096) (Z.of_nat (group_count d))) in
  let h := eta s f (floor_of d s) (all_units (Z.of_nat (group_count d))) in
  let m := length (blocks_of_word d w) in
  Rabs (V z - (V x + Rsum (map (term_value d) (elements d w)))) <=
    ((1 + k) ^ m - 1) * (Rabs (V x) + Rsum (map (fun e => Rabs (term_value d e)) (elements d w))) + h * geometric k m.
Proof.
  intros S O Dc Sx Le Vz. rewrite whole_share. destruct (grouped_inv d s f S O) as [size [n [g [t [Sd [Cd [Gd [Td ->]]]]]]]].
  now apply (grouped_error d f s size n g t Sd Cd Gd Td O w z x).
Qed.

(** The same from c = 0: ((1 + kappa_0) (1 + kappa)^(m-1) - 1) Σ|terms|. *)
Theorem error_of_groups_from_zero d s f w z x : fused_sum d = Some s -> grouped_ok d f = true ->
  decode (c_format d) (c_word w) = Num x -> is_zero x = true -> Forall (leading_element d) (elements d w) -> value d w = Num z ->
  let k := kappa s f (units (IZR 4096 * / 4096) (Z.of_nat (group_count d))) in
  let h := eta s f (floor_of d s) (all_units (Z.of_nat (group_count d))) in
  let k0 := kappa s f (units_alone (IZR 4096 * / 4096) (Z.of_nat (group_count d))) in
  let m := Nat.pred (length (blocks_of_word d w)) in
  Rabs (V z - Rsum (map (term_value d) (elements d w))) <=
    ((1 + k0) * (1 + k) ^ m - 1) * Rsum (map (fun e => Rabs (term_value d e)) (elements d w)) + ((1 + k) ^ m * h + h * geometric k m).
Proof.
  intros S O Dc Zx Le Vz. rewrite whole_share. destruct (grouped_inv d s f S O) as [size [n [g [t [Sd [Cd [Gd [Td ->]]]]]]]].
  now apply (grouped_error_from_zero d f s size n g t Sd Cd Gd Td O w z x).
Qed.

(** For all words of one block, and every E that is at least the exponent of the least normal result, c's unless it is 0, and those
    of both scales, added, of every product that is not 0: |d - exact| <= n 2^(E - F) for n groups, and an ulp of d, or half of it. *)
Theorem error_of_groups_in_exponents d s f w z x E : fused_sum d = Some s -> grouped_ok d f = true -> (fbits (c_format d) <=? f)%Z = true ->
  length (blocks_of_word d w) = 1%nat -> decode (c_format d) (c_word w) = Num x -> value d w = Num z -> (emin (out s) <= E)%Z ->
  (is_zero x = false -> (exp x <= E)%Z) ->
  (forall e y r q, In e (elements d w) -> term d e = Num y -> is_zero y = false -> scaled_by e = [Num r; Num q] -> (exp r + exp q <= E)%Z) ->
  Rabs (V z - (V x + Rsum (map (term_value d) (elements d w)))) <=
    IZR (Z.of_nat (group_count d)) * bp (E - f) + ulps (out s) * Rulp (out s) (V z).
Proof.
  intros S O Fc One Dc Vz Em Ex Et. destruct (grouped_inv d s f S O) as [size [n [g [t [Sd [Cd [Gd [Td ->]]]]]]]].
  now apply (grouped_error_in_exponents d f s size n g t Sd Cd Gd Td O w z x E).
Qed.
